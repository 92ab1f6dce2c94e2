import { isKind, isQuestion, type KindName, kinds, variantsOf } from "../../../core/actions/kind.ts";
import { Failure } from "../../../core/failure.ts";
import { checkFilename } from "../../../core/files/filename.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { type WaitMode, waitMsMax } from "../../../core/tasks/subtask-wait.ts";
import { titleMax as siteTitleMax } from "../../../core/websites/checkpoint.ts";
import { parseJson } from "./text.ts";

const toolStatuses = ["success", "error", "rollback"] as const;

/** A directive in a message to the offline agent (spec/decisions.md 19). */
export type Directive = EventDirective | Silent | EndingDirective;

/** Directives that write events at once. */
export type EventDirective =
  | { readonly name: "say" | "stream" | "think" | "progress" | "subtask"; readonly text: string }
  | { readonly name: "plan"; readonly titles: readonly string[] }
  | { readonly name: "step" }
  | { readonly name: "file"; readonly filename: string; readonly content: string }
  | { readonly name: "site"; readonly title: string; readonly html: string }
  | { readonly name: "tool"; readonly tool: string; readonly status: (typeof toolStatuses)[number] }
  | { readonly name: "credits"; readonly credits: number };

/** Directives that write no event. */
type Silent =
  | { readonly name: "value"; readonly value: Json }
  | { readonly name: "plain" }
  | { readonly name: "sleep"; readonly seconds: number }
  | { readonly name: "forever" };

/** Directives that may end the turn. */
export type EndingDirective =
  | { readonly name: "ask"; readonly question: string; readonly options: readonly string[] }
  | { readonly name: "confirm"; readonly kind: KindName; readonly variant: string }
  | { readonly name: "schedule"; readonly params: JsonObject }
  | { readonly name: "wait"; readonly mode: WaitMode; readonly seconds: number | undefined }
  | { readonly name: "fail"; readonly errorType: string; readonly text: string }
  | { readonly name: "crash" };

/** A directive, or the rule that its text breaks. */
export type Parsed = Directive | { readonly rule: string };

/** Parses the text after the name, trimmed. */
type Parser = (rest: string) => Parsed;

const titlesMax = 50;
const titleMax = 200;
const optionsMax = 20;
const creditsMax = 1_000_000;
const secondsMax = 86_400;
const snakeCase = /^[a-z][a-z0-9_]{0,63}$/;

const textParser =
  (name: "say" | "stream" | "think" | "progress" | "subtask"): Parser =>
  (text) =>
    text === "" ? { rule: `${name} needs a text` } : { name, text };

const bareParser =
  (name: "step" | "plain" | "forever" | "crash"): Parser =>
  (rest) =>
    rest === "" ? { name } : { rule: `${name} takes no argument` };

const parsers: Record<Directive["name"], Parser> = {
  say: textParser("say"),
  stream: textParser("stream"),
  think: textParser("think"),
  progress: textParser("progress"),
  plan(rest) {
    const titles = partsOf(rest);
    const fit = titles.length <= titlesMax && titles.every((title) => title !== "" && [...title].length <= titleMax);
    return fit
      ? { name: "plan", titles }
      : { rule: `plan needs 1 to ${titlesMax} titles with | between them, each with 1 to ${titleMax} characters` };
  },
  step: bareParser("step"),
  tool(rest) {
    const [tool, word] = splitAtBar(rest);
    const status = toolStatuses.find((known) => known === (word || "success"));
    if (!snakeCase.test(tool) || status === undefined)
      return { rule: `tool needs a name in snake case, and may have ${toolStatuses.join(", ")} after |` };
    return { name: "tool", tool, status };
  },
  credits: (rest) =>
    /^[1-9]\d{0,6}$/.test(rest) && Number(rest) <= creditsMax
      ? { name: "credits", credits: Number(rest) }
      : { rule: `credits needs a whole number from 1 to ${creditsMax}` },
  file(rest) {
    const [filename, content] = splitAtBar(rest);
    if (filename === "" || content === "") return { rule: "file needs a name, and its content after |" };
    const fault = filenameFault(filename);
    return fault === undefined ? { name: "file", filename, content } : { rule: `file: ${fault}` };
  },
  subtask: textParser("subtask"),
  site(rest) {
    const [title, html] = splitAtBar(rest);
    return title !== "" && [...title].length <= siteTitleMax && html !== ""
      ? { name: "site", title, html }
      : { rule: `site needs a title of 1 to ${siteTitleMax} characters, and HTML after |` };
  },
  value(rest) {
    const parsed = parseJson(rest);
    return parsed
      ? { name: "value", ...parsed }
      : { rule: "value needs one JSON value that every wire can carry, at most 100 levels deep" };
  },
  plain: bareParser("plain"),
  sleep: (rest) =>
    /^\d+(\.\d+)?$/.test(rest) && Number(rest) <= secondsMax
      ? { name: "sleep", seconds: Number(rest) }
      : { rule: `sleep needs seconds, a decimal number from 0 to ${secondsMax}` },
  ask(rest) {
    const [question = "", ...options] = partsOf(rest);
    const fit = question !== "" && options.length <= optionsMax && !options.includes("");
    return fit
      ? { name: "ask", question, options }
      : { rule: `ask needs a question, and may have up to ${optionsMax} options, each after a | and not empty` };
  },
  confirm(rest) {
    const [kind, variant] = splitAtBar(rest);
    if (!isKind(kind)) return { rule: `${excerpt(kind, "nothing")} is not a kind of confirmation: use one of ${confirmable.join(", ")}` };
    if (isQuestion(kind)) return { rule: `${kind} is a question: use ask` };
    const [first = "", ...others] = variantsOf(kind);
    if ([first, ...others, ""].includes(variant)) return { name: "confirm", kind, variant: variant || first };
    return { rule: first === "" ? `${kind} has no variants` : `${kind} has the variants ${[first, ...others].join(", ")}` };
  },
  schedule(rest) {
    const [name = "", timing = "", timeZone = "", ...message] = partsOf(rest);
    if (message.length === 0) return { rule: "schedule needs a name, a time, a time zone and a message, with | between them" };
    return { name: "schedule", params: { name, ...timingOf(timing), time_zone: timeZone, message: message.join(" | ") } };
  },
  wait(rest) {
    const [mode, limit] = splitAtBar(rest);
    const isLimit = limit === "" || (/^\d+(\.\d+)?$/.test(limit) && Number(limit) > 0 && Number(limit) * 1000 <= waitMsMax);
    if ((mode !== "all" && mode !== "any") || !isLimit)
      return { rule: `wait needs all or any, and may have seconds after |, a decimal number above 0 and at most ${waitMsMax / 1000}` };
    return { name: "wait", mode, seconds: limit === "" ? undefined : Number(limit) };
  },
  fail(rest) {
    const [errorType, text] = splitAtBar(rest);
    if (!snakeCase.test(errorType)) return { rule: "fail needs an error type in snake case, and may have a text after |" };
    return { name: "fail", errorType, text: text || "Failed as requested." };
  },
  forever: bareParser("forever"),
  crash: bareParser("crash"),
};

/** `every SECONDS`, a time of RFC 3339, or a cron expression. */
function timingOf(text: string): JsonObject {
  const [, every] = /^every (\d+)$/.exec(text) ?? [];
  if (every !== undefined) return { interval_seconds: Number(every) };
  return /^\d{4}-/.test(text) ? { at: text } : { cron: text };
}

const confirmable = Object.keys(kinds).filter((kind) => isKind(kind) && !isQuestion(kind));

/** Parses the text between `[[` and `]]`. */
export function parseDirective(body: string): Parsed {
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(body) ?? [];
  if (!isName(name))
    return { rule: `${excerpt(name, "an empty directive")} is not a directive: use one of ${Object.keys(parsers).join(", ")}` };
  return parsers[name](rest.trim());
}

/** The rule for uploads' names that a name breaks; undefined for a valid name. */
function filenameFault(name: string): string | undefined {
  try {
    checkFilename(name, "the name");
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message;
    throw thrown;
  }
}

const isName = (name: string): name is Directive["name"] => Object.hasOwn(parsers, name);
const excerpt = (word: string, nothing: string): string => (word === "" ? nothing : [...word].slice(0, 40).join(""));

/** The parts between the bars. */
const partsOf = (rest: string): readonly string[] => rest.split("|").map((part) => part.trim());

/** The text before the first bar, and the text after it; the latter is empty without a bar. */
function splitAtBar(rest: string): readonly [string, string] {
  const bar = rest.indexOf("|");
  return bar === -1 ? [rest, ""] : [rest.slice(0, bar).trim(), rest.slice(bar + 1).trim()];
}
