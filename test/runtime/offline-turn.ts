import fc from "fast-check";
import { isQuestion, type KindName, kinds, variantsOf } from "../../src/core/actions/kind.ts";
import type { NewEvent, PlanStep } from "../../src/core/tasks/event.ts";
import type { Decision, Outcome, Turn } from "../../src/runtime/agent.ts";
import type { Directive } from "../../src/runtime/agents/offline/directives.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { turnWithoutFiles } from "../support/agent-files.ts";
import { movableClock } from "../support/clock.ts";

/** The agent's events and outcome in one run of a turn. */
export interface PlayedTurn {
  readonly events: readonly NewEvent[];
  readonly credits: number;
  readonly outcome: Outcome;
}

/** Runs a turn with these messages, by default the first of a task without an interactive user. */
export async function playTurn(messages: string | readonly string[], more: Partial<Turn> = {}): Promise<PlayedTurn> {
  const turn: Turn = {
    taskId: "t",
    title: "",
    locale: "en",
    profile: "manus-1.6",
    instruction: "",
    interactive: false,
    earlier: [],
    messages: typeof messages === "string" ? [messages] : messages,
    ...turnWithoutFiles,
    memo: null,
    decisions: [],
    written: [],
    outputSchema: null,
    connectors: [],
    owner: { accountId: "ann", spaceId: "north", clientId: null },
    reserve: async () => ({ id: "", credits: 0 }),
    claim: 1,
    clock: movableClock(),
    signal: new AbortController().signal,
    ...more,
  };
  const work = offlineAgent(turn);
  const events: NewEvent[] = [];
  let credits = 0;
  for (;;) {
    const step = await work.next();
    if (step.done) return { events, credits, outcome: step.value };
    events.push(...step.value.events);
    credits += step.value.credits ?? 0;
  }
}

/** The final text of a turn; empty when it ends without one. */
export async function answerOf(messages: string | readonly string[], more: Partial<Turn> = {}): Promise<string> {
  const { outcome } = await playTurn(messages, more);
  return "content" in outcome ? outcome.content : "";
}

/** The turn after a question: the agent gets its memo. */
export async function answerTurn(asking: string, answer: string | readonly string[], more: Partial<Turn> = {}): Promise<PlayedTurn> {
  const { outcome } = await playTurn(asking, more);
  if (outcome.kind !== "ask") throw new Error(`no question but ${JSON.stringify(outcome)}`);
  const earlier = [
    { role: "user", content: asking },
    { role: "assistant", content: outcome.content },
  ] as const;
  // A memo is stored as JSON.
  return playTurn(answer, { earlier, ...more, memo: JSON.parse(JSON.stringify(outcome.memo)) });
}

/** The snapshots of plans among events. */
export const plansIn = (events: readonly NewEvent[]): readonly (readonly PlanStep[])[] =>
  events.flatMap((event) => (event.type === "plan_update" ? [event.payload.steps] : []));

/** The texts of all kinds of messages. */
export const textsIn = (events: readonly NewEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === "assistant_message" ? [event.payload.content] : []));

/** A decision that accepts. */
export const acceptance: Decision = { kind: "deployAction", accepted: true, input: { accept: true } };

/** Kinds of approvals, with each variant; one without variants has the empty one. */
export const confirmable: readonly (readonly [kind: KindName, variant: string])[] = Object.keys(kinds)
  // The keys of a record of kinds are kinds.
  .map((kind) => kind as KindName)
  .filter((kind) => !isQuestion(kind))
  .flatMap((kind) => (variantsOf(kind).length > 0 ? variantsOf(kind) : [""]).map((variant) => [kind, variant] as const));

/** Any text, with pieces of directives among it. */
export const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "[[",
        "]]",
        "|",
        "\n",
        '"',
        "{",
        "say",
        "sleep 1",
        "value ",
        "step",
        "[[say hi]]",
        "[[plan A]]",
        "[[step]]",
        "[[ask Q]]",
        "3 + 4",
        "漢字",
        "- ",
      ),
    ),
  )
  .map((pieces) => pieces.join(""));

const trimmed = fc
  .string({ unit: "binary", minLength: 1, maxLength: 40 })
  .map((text) => text.trim())
  .filter((text) => text !== "" && !/\[\[|\]\]|\]$|^\[/.test(text));
const part = trimmed.filter((text) => !text.includes("|"));
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/);
/** Without -0, which JSON writes as 0. */
const json = fc
  .jsonValue({ stringUnit: "binary", maxDepth: 6 })
  .map((value) => JSON.parse(JSON.stringify(value)) as fc.JsonValue)
  .filter((value) => !/\\u0000|\\ud[89a-f]/.test(JSON.stringify(value)));

/** Any directive, in its parsed form. */
export const anyDirective: fc.Arbitrary<Directive> = fc.oneof(
  fc.record({ name: fc.constantFrom("say", "think", "progress"), text: trimmed }),
  fc.record({ name: fc.constant("plan"), titles: fc.array(part, { minLength: 1, maxLength: 50 }) }),
  fc.record({ name: fc.constant("tool"), tool: word, status: fc.constantFrom("success", "error", "rollback") }),
  fc.record({ name: fc.constant("credits"), credits: fc.integer({ min: 1, max: 1_000_000 }) }),
  // `fc.jsonValue` makes JSON with a wider type.
  fc.record({ name: fc.constant("value"), value: json }) as fc.Arbitrary<Directive>,
  fc.record({ name: fc.constant("sleep"), seconds: fc.integer({ min: 0, max: 86_400_000 }).map((ms) => ms / 1000) }),
  fc.record({ name: fc.constant("file"), filename: fc.stringMatching(/^[a-z]{1,20}\.(txt|csv|json)$/), content: trimmed }),
  fc.record({ name: fc.constant("ask"), question: part, options: fc.array(part, { maxLength: 20 }) }),
  fc.constantFrom(...confirmable).map(([kind, variant]) => ({ name: "confirm", kind, variant }) as const),
  fc.record({ name: fc.constant("fail"), errorType: word, text: trimmed }),
  fc.record({ name: fc.constantFrom("step", "plain", "forever", "crash") }),
);

/** A directive as a user writes it. */
export function printDirective(directive: Directive): string {
  const bars = (...parts: readonly string[]) => parts.join(" | ");
  const argument = () => {
    switch (directive.name) {
      case "say":
      case "think":
      case "progress":
        return directive.text;
      case "plan":
        return bars(...directive.titles);
      case "tool":
        return bars(directive.tool, directive.status);
      case "file":
        return bars(directive.filename, directive.content);
      case "credits":
        return String(directive.credits);
      case "value":
        return JSON.stringify(directive.value);
      case "sleep":
        return String(directive.seconds);
      case "ask":
        return bars(directive.question, ...directive.options);
      case "confirm":
        return directive.variant === "" ? directive.kind : bars(directive.kind, directive.variant);
      case "fail":
        return bars(directive.errorType, directive.text);
      default:
        return "";
    }
  };
  return `[[${directive.name} ${argument()}]]`;
}
