import { isKind, isQuestion, kinds, variantsOf } from "../../../core/actions/kind.ts";
import { Failure } from "../../../core/failure.ts";
import { checkFilename } from "../../../core/files/filename.ts";
import type { JsonObject } from "../../../core/json.ts";
import { waitMsMax } from "../../../core/tasks/subtask-wait.ts";
import { titleMax as siteTitleMax } from "../../../core/websites/checkpoint.ts";
import type { Outcome, Progress } from "../../agent.ts";
import { decide, propose, sampleApproval } from "./approvals.ts";
import { createMemo } from "./memo.ts";
import {
  explain,
  fileMessage,
  fileOf,
  message,
  never,
  type RunState,
  showWords,
  sleep,
  toolUse,
} from "./run.ts";
import { saveSite, startSubtask, waitForSubtasks } from "./subtasks.ts";
import { readJson } from "./text.ts";

/** A directive of a message: `[[NAME PART | PART]]`. */
export interface Directive {
  readonly name: DirectiveName;
  /** Trimmed. The last one may have bars. */
  readonly parts: readonly string[];
  /** The source text, from `[[` to `]]`. */
  readonly source: string;
  /** Offset of its `[[` in the message, from 0, in UTF-16 units. */
  readonly position: number;
}

/** What a directive does: it writes events, ends the turn, or neither. */
type Effect = Progress | Outcome | undefined;

interface Call {
  /** The first two parts; empty without one. */
  readonly first: string;
  readonly second: string;
  readonly parts: readonly string[];
  readonly work: RunState;
  /** The directives after this one. */
  readonly left: readonly Directive[];
}

interface Row {
  /** The number of bars that separate parts; 0 by default. */
  readonly bars?: number;
  /** What the parts must match, with `|` between them. */
  readonly pattern?: RegExp;
  /** The highest number of the last part. */
  readonly most?: number;
  /** The rule of both, after the name. */
  readonly rule?: string;
  /** Returns another rule that the parts break. */
  readonly check?: (first: string, second: string) => string | undefined;
  readonly run: (call: Call) => Effect | Promise<Effect>;
}

const text = (run: Row["run"]): Row => ({ pattern: /./s, rule: "needs a text", run });
const bare = (run: Row["run"]): Row => ({ pattern: /^$/, rule: "takes no argument", run });
const snakeCase = "[a-z][a-z0-9_]{0,63}";
const briefs = { success: "It worked", error: "It failed", rollback: "It was undone" } as const;
const isStatus = (word: string): word is keyof typeof briefs => Object.hasOwn(briefs, word);
const faultWord = String.raw`(?:status=[45]\d\d|delay=(?:[0-5]?\d(?:\.\d{1,3})?|60)|cut(?:-event)?=\d{1,9}|reset|after-commit|times=[1-9]\d{0,5}|skip=\d{1,6})`;

const table = {
  say: text(({ first }) => message({ content: first })),
  stream: text(async ({ first, work }) => (await showWords(first, work)) ?? message({ content: first })),
  think: text(({ first }) => explain(first)),
  progress: text(({ first }) => message({ content: first, deliveryKind: "progress" })),
  plan: {
    bars: never,
    pattern: /^[^|]{1,200}(?:\|[^|]{1,200}){0,49}$/u,
    rule: "needs 1 to 50 titles with | between them, each with 1 to 200 characters",
    run({ parts, work: { plan } }) {
      plan.replace(parts);
      return { events: [plan.snapshot()] };
    },
  },
  step: bare(({ work: { plan } }) => ({ events: plan.next() })),
  tool: {
    bars: 1,
    pattern: new RegExp(`^${snakeCase}(?:\\|(?:success|error|rollback)?)?$`),
    rule: "needs a name in snake case, and may have success, error, rollback after |",
    run({ first, second, work: { nextActionId } }) {
      const status = isStatus(second) ? second : "success";
      return toolUse({
        tool: first,
        actionId: nextActionId(),
        status,
        brief: briefs[status],
        message: { action: "Using", param: first },
      });
    },
  },
  credits: {
    pattern: /^[1-9]\d*$/,
    most: 1_000_000,
    rule: "needs a whole number from 1 to 1000000",
    run: ({ first }) => ({ ...explain(`Spent ${first} credits.`), credits: Number(first) }),
  },
  file: {
    bars: 1,
    pattern: /^[^|]+\|./s,
    rule: "needs a name, and its content after |",
    check: filenameFault,
    run: ({ first, parts }) => ({
      events: [
        { type: "assistant_message", payload: { content: fileMessage(first) }, files: [fileOf(parts)] },
      ],
    }),
  },
  subtask: text(({ first, work }) => startSubtask(first, work)),
  site: {
    bars: 1,
    pattern: new RegExp(`^[^|]{1,${siteTitleMax}}\\|.`, "su"),
    rule: `needs a title of 1 to ${siteTitleMax} characters, and HTML after |`,
    run: ({ first, second, work }) => saveSite(first, second, work),
  },
  value: {
    check: (first) =>
      readJson(first)
        ? undefined
        : "value needs one JSON value that every wire can carry, at most 100 levels deep",
    run({ first, work }) {
      work.value = readJson(first)?.value;
      return undefined;
    },
  },
  plain: bare(() => undefined),
  sleep: {
    pattern: /^\d+(?:\.\d+)?$/,
    most: 86_400,
    rule: "needs seconds, a decimal number from 0 to 86400",
    run: ({ first, work }) => sleep(Number(first), work),
  },
  ask: {
    bars: never,
    pattern: /^[^|]+(?:\|[^|]+){0,20}$/,
    rule: "needs a question, and may have up to 20 options, each after a | and not empty",
    run: ({ first, parts, work: { request, plan, value }, left }) => ({
      kind: "ask",
      content: first,
      options: parts.slice(1),
      memo: createMemo({ left: left.map(({ source }) => source).join(""), request, plan: plan.plan, value }),
    }),
  },
  confirm: {
    bars: 1,
    check: kindFault,
    run({ first, second, work }) {
      if (!isKind(first)) return undefined;
      const request = () => sampleApproval(first, second || (variantsOf(first)[0] ?? ""), work.turn);
      return decide(work, request);
    },
  },
  schedule: {
    bars: 3,
    pattern: /^(?:[^|]*\|){3}/,
    rule: "needs a name, a time, a time zone and a message, with | between them",
    run: ({ parts: [name = "", timing = "", time_zone = "", message = ""], work }) =>
      decide(work, () => propose({ name, ...timingOf(timing), time_zone, message }, work.turn)),
  },
  wait: {
    bars: 1,
    pattern: /^(?:all|any)(?:\|(?!0+(?:\.0+)?$)(?:\d+(?:\.\d+)?)?)?$/,
    most: waitMsMax / 1000,
    rule: `needs all or any, and may have seconds after |, a decimal number above 0 and at most ${waitMsMax / 1000}`,
    run: ({ first, second, work }) => waitForSubtasks(first === "any" ? "any" : "all", second, work),
  },
  fail: {
    bars: 1,
    pattern: new RegExp(`^${snakeCase}(?:\\|.*)?$`, "s"),
    rule: "needs an error type in snake case, and may have a text after |",
    run: ({ first, second }) => ({
      kind: "fail",
      errorType: first,
      content: second || "Failed as requested.",
    }),
  },
  forever: bare(async ({ work: { turn } }) => {
    for (;;) await turn.clock.sleep(60_000, turn.signal);
  }),
  crash: bare(({ work: { turn } }) => (turn.claim === 1 ? { kind: "abandon" } : undefined)),
  fault: {
    pattern: new RegExp(`^(?=.*(?:status|delay|cut|reset|commit))${faultWord}(?:\\s*;\\s*${faultWord})*$`),
    rule: "needs words with ; between them: status=503, delay=1.5, cut=100, cut-event=3, reset or after-commit, and may have times=2, skip=1",
    run: ({ first, work }) => causeFault(new URLSearchParams(first.replaceAll(/\s*;\s*/g, "&")), work),
  },
} as const satisfies Readonly<Record<string, Row>>;

export type DirectiveName = keyof typeof table;

const rows: Readonly<Record<DirectiveName, Row>> = table;
const isName = (name: string): name is DirectiveName => Object.hasOwn(table, name);

/** Parses the text between `[[` and `]]`; the rule that it breaks, if any. */
export function parseDirective(body: string): Pick<Directive, "name" | "parts"> | { rule: string } {
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(body) ?? [];
  if (!isName(name))
    return {
      rule: `${excerpt(name, "an empty directive")} is not a directive: use one of ${Object.keys(table).join(", ")}`,
    };
  const { bars = 0, pattern, most, rule, check } = rows[name];
  const all = rest.split("|");
  const parts = (all.length > bars + 1 ? [...all.slice(0, bars), all.slice(bars).join("|")] : all).map(
    (part) => part.trim(),
  );
  const fits = (pattern?.test(parts.join("|")) ?? true) && !(Number(parts.at(-1)) > (most ?? never));
  const broken = fits ? check?.(parts[0] ?? "", parts[1] ?? "") : `${name} ${rule}`;
  return broken === undefined ? { name, parts } : { rule: broken };
}

/** Executes directives in order until one of them ends the turn. Returns undefined when none does. */
export async function* execute(
  directives: readonly Directive[],
  work: RunState,
): AsyncGenerator<Progress, Outcome | undefined, void> {
  for (const [i, { name, parts }] of directives.entries()) {
    const [first = "", second = ""] = parts;
    const effect = await rows[name].run({ first, second, parts, work, left: directives.slice(i + 1) });
    if (effect && "kind" in effect) return effect;
    if (!effect) continue;
    work.events += effect.events.length;
    yield effect;
    if (work.events >= work.loss.events) return { kind: "abandon" };
  }
  return undefined;
}

/** Does to the run what the words of `X-ATP-Fault` do to a call. A lost run is followed by another. */
async function causeFault(words: URLSearchParams, work: RunState): Promise<Effect> {
  const number = (name: string, otherwise: number) => Number(words.get(name) ?? otherwise);
  const { claim, decisions, waits } = work.turn;
  const nth = Math.max(1, claim - decisions.length - (waits?.length ?? 0)) - number("skip", 0);
  if (nth < 1 || nth > number("times", 1)) return undefined;
  await sleep(number("delay", 0), work);
  const status = number("status", 0);
  if (status > 0)
    return {
      kind: "fail",
      errorType: errorTypes[status] ?? "internal",
      content: `A fault of the test: status ${status}.`,
    };
  const events = work.events + number("cut-event", never);
  work.loss = { events, bytes: number("cut", never), atEnd: words.has("after-commit") };
  return words.has("reset") || events === work.events ? { kind: "abandon" } : undefined;
}

const errorTypes: Readonly<Record<number, string>> = { 408: "timeout", 429: "quota_limit", 504: "timeout" };

/** `every SECONDS`, a time of RFC 3339, or a cron expression. */
function timingOf(text: string): JsonObject {
  const [, every] = /^every (\d+)$/.exec(text) ?? [];
  if (every !== undefined) return { interval_seconds: Number(every) };
  return /^\d{4}-/.test(text) ? { at: text } : { cron: text };
}

/** The rule for uploads' names that a name breaks. */
function filenameFault(name: string): string | undefined {
  try {
    checkFilename(name, "the name");
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure) return `file: ${thrown.message}`;
    throw thrown;
  }
}

function kindFault(kind: string, variant: string): string | undefined {
  const confirmable = Object.keys(kinds).filter((each) => isKind(each) && !isQuestion(each));
  if (!isKind(kind))
    return `${excerpt(kind, "nothing")} is not a kind of confirmation: use one of ${confirmable.join(", ")}`;
  if (isQuestion(kind)) return `${kind} is a question: use ask`;
  const variants = variantsOf(kind);
  if (variant === "" || variants.includes(variant)) return undefined;
  return variants.length === 0
    ? `${kind} has no variants`
    : `${kind} has the variants ${variants.join(", ")}`;
}

const excerpt = (word: string, nothing: string): string =>
  word === "" ? nothing : [...word].slice(0, 40).join("");
