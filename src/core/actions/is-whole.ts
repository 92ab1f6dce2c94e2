import type { JsonObject } from "../json.ts";
import { type Row, rowsOf } from "./act.ts";
import { isKind, kindOf } from "./kind.ts";
import { visible } from "./visible.ts";

/** An action as its task shows it while it waits. */
export interface WaitingAct {
  readonly kind: string;
  readonly description: string;
  readonly params?: JsonObject | undefined;
  /** The schema of the decision; absent for a question. */
  readonly schema?: JsonObject | undefined;
}

/**
 * Whether the description, as a row of a list has it, shows all that a decision decides. False when in doubt:
 * then the decision is made where all rows are shown.
 *
 * The description is one line of at most 300 characters without hidden ones. Each value of the params occurs
 * in it so that the reader sees where it begins and ends:
 *
 * - A single text is in quotation marks (`Publish “demo”`), or all that follows the only colon (`Run: make
 *   clean`).
 * - Each of several values, and a single number, truth value or empty one, is in quotation marks directly
 *   after the name of its member: `Write to “ann@example.com” with the subject “Hello”`. Alone, it does not
 *   say which member it is.
 * - The rest is words, without another colon or quotation mark: `Run: echo “rm -rf /”` shows another command.
 */
export function isWhole({ kind, description, params, schema }: WaitingAct): boolean {
  if (description.length > descriptionMax || /\n/.test(description) || visible(description) !== description)
    return false;
  return isPlainDecision(kind, schema) && showsAll(description, rowsOf(params));
}

const descriptionMax = 300;

/**
 * Kinds that a description alone cannot explain: secrets, a sign-in, the use of the person's browser, and
 * spending.
 */
const neverWhole: ReadonlySet<string> = new Set([
  "webdevRequestSecrets",
  "connectorOauthExpired",
  "needConnectMyBrowser",
  "apiHighCreditNotice",
]);

/** Whether the input is `accept`, alone or with the member that only decides later actions. */
function isPlainDecision(kind: string, schema: JsonObject | undefined): boolean {
  if (!isKind(kind) || neverWhole.has(kind)) return false;
  const members = Object.keys((schema?.["properties"] as JsonObject | undefined) ?? {});
  return (
    members.includes("accept") &&
    members.every((name) => name === "accept" || name === kindOf(kind).decidesLaterBy)
  );
}

const marks = ["“”", "„“", "«»", "‘’", '""', "''", "``"].map(([open = "", close = ""]) => ({ open, close }));
const isWords = (text: string): boolean => /^[\p{L}\p{M}\p{N}\s.,;!?()-]*$/u.test(text);

function showsAll(description: string, rows: readonly Row[]): boolean {
  const [first] = rows;
  const isOnly = rows.length === 1 && !isBare(first?.value ?? "");
  if (isOnly && endsWith(description, first?.value ?? "")) return true;
  let rest = ` ${description}`;
  for (const row of rows) {
    const found = formsOf(row, isOnly).find((form) => rest.includes(form));
    if (found === undefined) return false;
    rest = rest.replace(found, () => " ");
  }
  return isWords(rest);
}

/** Values that say nothing without the name of their member. */
const isBare = (value: string): boolean => /^(?:true|false|null|""|\[\]|\{\}|[-+\d.,e]+)$/i.test(value);

const endsWith = (description: string, value: string): boolean =>
  description.endsWith(`: ${value}`) && isWords(description.slice(0, -value.length - 2));

/** The texts that show a value: each begins with a blank, so that no other word ends with the name. */
function formsOf({ path, value }: Row, isOnly: boolean): readonly string[] {
  const inMarks = marks.filter(({ open, close }) => !value.includes(open) && !value.includes(close));
  const quoted = inMarks.map(({ open, close }) => ` ${open}${value}${close}`);
  const name = /[\p{L}\p{N}_-]+$/u.exec(path)?.[0];
  const named =
    name === undefined
      ? []
      : [name, name.replaceAll("_", " ")].flatMap((member) => quoted.map((text) => ` ${member}${text}`));
  return isOnly ? [...named, ...quoted] : named;
}
