import fc from "fast-check";
import { isQuestion, type KindName, kinds, variantsOf } from "../../src/core/actions/kind.ts";
import type { NewEvent, PlanStep } from "../../src/core/tasks/event.ts";
import type { ChatMessage, Decision, Outcome, Turn } from "../../src/runtime/agent.ts";
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

/** Parts of a turn; its events are numbered by their places. */
export type TurnParts = Partial<Omit<Turn, "written" | "earlier">> & {
  readonly written?: readonly NewEvent[];
  readonly earlier?: readonly ChatMessage[];
};

/** Runs a turn with these messages, by default the first of a task without an interactive user. */
export async function playTurn(
  messages: string | readonly string[],
  { written = [], earlier = [], ...more }: TurnParts = {},
): Promise<PlayedTurn> {
  const turn: Turn = {
    taskId: "t",
    title: "",
    locale: "en",
    profile: "manus-1.6",
    number: 0,
    instruction: "",
    projectInstruction: "",
    interactive: false,
    earlier: earlier.map((message, seq) => ({ ...message, seq })),
    messages: typeof messages === "string" ? [messages] : messages,
    ...turnWithoutFiles,
    memo: null,
    decisions: [],
    // The agent yields them unchanged.
    written: written as Turn["written"],
    transcript: async () => [],
    person: async () => ({ name: null, timeZone: "UTC" }),
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
export async function answerOf(messages: string | readonly string[], more: TurnParts = {}): Promise<string> {
  const { outcome } = await playTurn(messages, more);
  return "content" in outcome ? outcome.content : "";
}

/** The turn after a question: the agent gets its memo. */
export async function answerTurn(
  asking: string,
  answer: string | readonly string[],
  more: TurnParts = {},
): Promise<PlayedTurn> {
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
  .flatMap((kind) =>
    (variantsOf(kind).length > 0 ? variantsOf(kind) : [""]).map((variant) => [kind, variant] as const),
  );

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

/** A directive in its parsed form. */
export type Parsed = Pick<Directive, "name" | "parts">;

const one = (name: Directive["name"], part: fc.Arbitrary<string>): fc.Arbitrary<Parsed> =>
  part.map((text) => ({ name, parts: [text] }));
const two = (
  name: Directive["name"],
  first: fc.Arbitrary<string>,
  second: fc.Arbitrary<string>,
): fc.Arbitrary<Parsed> => fc.tuple(first, second).map((parts) => ({ name, parts }));

/** Any directive, in its parsed form. */
export const anyDirective: fc.Arbitrary<Parsed> = fc.oneof(
  fc.constantFrom("say" as const, "think" as const, "progress" as const).chain((name) => one(name, trimmed)),
  fc.array(part, { minLength: 1, maxLength: 50 }).map((parts) => ({ name: "plan" as const, parts })),
  two("tool", word, fc.constantFrom("success", "error", "rollback")),
  one("credits", fc.integer({ min: 1, max: 1_000_000 }).map(String)),
  one(
    "value",
    json.map((value) => JSON.stringify(value)),
  ),
  one(
    "sleep",
    fc.integer({ min: 0, max: 86_400_000 }).map((ms) => String(ms / 1000)),
  ),
  two("file", fc.stringMatching(/^[a-z]{1,20}\.(txt|csv|json)$/), trimmed),
  fc.array(part, { minLength: 1, maxLength: 21 }).map((parts) => ({ name: "ask" as const, parts })),
  fc.constantFrom(...confirmable).map(([kind, variant]) => ({
    name: "confirm" as const,
    parts: variant === "" ? [kind] : [kind, variant],
  })),
  two("fail", word, trimmed),
  one("step", fc.constant("")),
  one("plain", fc.constant("")),
  one("forever", fc.constant("")),
  one("crash", fc.constant("")),
);

/** A directive as a user writes it. */
export const printDirective = ({ name, parts }: Parsed): string => `[[${name} ${parts.join(" | ")}]]`;
