import { defined } from "../../../core/defined.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { PermissionVerdict } from "../../../core/permissions/evaluate.ts";
import { type FetchPolicy, fetchRules, strictest } from "../../../core/tasks/fetch-policy.ts";
import type { Decision, Turn } from "../../agent.ts";
import { deniedResult, permit } from "./permit.ts";
import type { CheckRequest, ToolResult } from "./tool.ts";
import { refusedResult } from "./tools/create-tool.ts";

// The rule for requests to addresses that a model chooses (docs/guides/models.md#fetch-policy). It is
// computed from the messages and events of the task alone, so a run that continues decides as the run before
// it.

/** The request is not sent: the use ends with `result`. */
export class Unapproved extends Error {
  readonly result: ToolResult;

  constructor(result: ToolResult) {
    super("a request needs an approval");
    this.result = result;
  }
}

/** What the rule knows of the use that sends the requests. */
interface Using {
  /** The policy of the model's entry. */
  readonly policy: FetchPolicy;
  readonly turn: Pick<Turn, "sources" | "permit">;
  /** The results of pages in this turn. */
  readonly pages: readonly Json[];
  /** The decisions on this use. */
  readonly decisions: readonly Decision[];
  /** Takes the verdict that allowed a request. */
  readonly onAllowed?: (verdict: PermissionVerdict) => void;
}

/** The most approvals that one use requests: a page can redirect to another address each time. */
const asksMax = 5;
/** The tools whose results are pages. Texts of files and other tasks are not: a model can write them. */
export const pageTools: readonly string[] = [
  "web_fetch",
  // Its name before 0.3.0, in events.
  "fetch_url",
  "web_search",
  "browser_open",
  "browser_read",
  "browser_click",
  "browser_type",
];

/** The tools that a model does not have where it may send no request. */
export const requestTools: readonly string[] = [
  ...pageTools.filter((name) => name !== "web_search"),
  "browser_screenshot",
];

/** A host as rules see it: without a dot at its end, and also with its port. */
export const hostSubjects = (url: URL | null): readonly string[] =>
  url ? [url.hostname.replace(/\.$/, ""), url.host] : [];

export const requestChecks =
  ({ policy: ofModel, turn, pages, decisions, onAllowed }: Using): CheckRequest =>
  async (url, { from, text } = {}) => {
    const policy = strictest(ofModel, (await turn.sources?.settings()) ?? { fetch: null, fetchHosts: null });
    const use = { tool: "web_fetch", subjects: hostSubjects(url), isEffect: true };
    const verdict = await permit(turn, use, [{ source: "profile", rules: fetchRules(policy) }]);
    if (verdict.decision === "deny") throw new Unapproved(deniedResult(verdict));
    if (verdict.decision === "allow") return onAllowed?.(verdict);
    // Its server has the request already, and chose this address.
    if (from && from.host === url.host && (from.protocol === url.protocol || url.protocol === "https:"))
      return;
    const answers = decisions.filter(({ kind }) => kind === "fetchUrl");
    const answer = answers.findLast(({ params }) => params?.["url"] === url.href && params["text"] === text);
    if (answer?.accepted) return;
    if (answer) throw refused("The user refused this request.");
    if (text === undefined && (await isFree(url, turn.sources, pages))) return;
    if (answers.length >= asksMax) throw refused("The address changes whenever the user has approved one.");
    throw new Unapproved({ kind: "end", outcome: approvalOf(url, from, text) });
  };

const refused = (why: string): Unapproved => new Unapproved(refusedResult(why));

/** Whether the address is in a message of the user, or as a link of a page that was read. */
async function isFree({ href }: URL, sources: Turn["sources"], pages: readonly Json[]): Promise<boolean> {
  if (!sources) return false;
  for await (const text of sources.messages())
    if (hasAddress(text, href) || hasAddress(withSchemes(text), href)) return true;
  if (pages.some((result) => leavesOf(result).some((text) => hasAddress(text, href)))) return true;
  for await (const result of sources.results(pageTools))
    if (leavesOf(result).some((text) => hasAddress(text, href))) return true;
  return false;
}

/**
 * Whether a text has exactly this address, compared as parsed URLs. A mark at its end may belong to the
 * address or to the text, and an address without its fragment says less than with it. One with user
 * information never counts.
 *
 * @param href the `href` of a URL.
 */
export function hasAddress(text: string, href: string): boolean {
  for (const [raw] of text.replaceAll("](", "] ").matchAll(/https?:\/\/[^\s<>"]+/gi)) {
    // In Markdown an address in `(…)` has no parentheses: one that has them is in `<…>`.
    const ends = [
      raw,
      raw.replace(/[.,;:!?'’”»)\]}*_`|。，、！？）」]+$/, ""),
      raw.replace(/^([^()]*)\).*/, "$1"),
    ];
    for (const each of ends) {
      const url = URL.parse(each);
      if (url?.username !== "" || url.password !== "") continue;
      if (url.href === href || withoutFragment(url).href === href) return true;
    }
  }
  return false;
}

/** The beginning of a host name that is part of no longer word or address. */
const bareAddress = /(?<![\p{L}\p{N}_@/.:%-])(?=(?:[\p{L}\p{N}-]+\.)+\p{L}{2,})/gu;

/**
 * A text whose addresses without a scheme have https: a person who writes "look at example.com" means
 * `https://example.com/`.
 */
export const withSchemes = (text: string): string => text.replace(bareAddress, "https://");

export function withoutFragment(url: URL): URL {
  const sent = new URL(url);
  sent.hash = "";
  return sent;
}

const leavesOf = (value: Json): readonly string[] =>
  typeof value === "string"
    ? [value]
    : Array.isArray(value)
      ? value.flatMap(leavesOf)
      : isObject(value)
        ? Object.values(value).flatMap(leavesOf)
        : [];

/**
 * The request for the user's approval: it shows the complete address, also with its percent-encoded
 * characters decoded.
 */
function approvalOf(
  url: URL,
  from: URL | undefined,
  text: string | undefined,
): Extract<ToolResult, { kind: "end" }>["outcome"] {
  const decoded = decode(url.href);
  const params: JsonObject = {
    url: url.href,
    ...(decoded === url.href ? {} : { decoded }),
    ...defined({ text }),
    ...(from === undefined ? {} : { redirected_from: from.href }),
  };
  const lines = [
    text === undefined
      ? `Send a request to ${url.host}.`
      : `Type a text into a page of ${url.host}, which can send it.`,
    `Address: ${url.href}`,
    ...(decoded === url.href ? [] : [`Decoded: ${decoded}`]),
    ...(text === undefined ? [] : [`Text: ${text}`]),
    ...(from === undefined ? [] : [`Redirected from: ${from.href}`]),
  ];
  const description = lines.join("\n");
  return { kind: "confirm", action: "fetchUrl", variant: "", description, params, isChecked: true };
}

/** Decodes what a query or path has encoded, as far as it is UTF-8; `+` in the query is a space. */
function decode(href: string): string {
  const [path = "", ...query] = href.split("?");
  const plain = (text: string) =>
    text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (coded) => {
      try {
        return decodeURIComponent(coded);
      } catch {
        return coded;
      }
    });
  return [plain(path), ...query.map((text) => plain(text.replaceAll("+", " ")))].join("?");
}
