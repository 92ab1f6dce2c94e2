import { defined } from "../../../core/defined.ts";
import { type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { structuredResult } from "../../../core/structured-output/structured-output.ts";
import type { Agent, ChatMessage, Outcome, Progress } from "../../agent.ts";
import type { Answer } from "./answer.ts";
import { TurnError } from "./fault.ts";
import { closePlan } from "./plan.ts";
import { type ModelParts, openRun, type Run } from "./run.ts";
import { runStep } from "./step.ts";
import { useSkillName } from "./tools/use-skill.ts";
import { recordWaits, runUse, useTool } from "./use.ts";

/**
 * Invokes forced skills (spec/api.md 9.10) before the first call of the model: so none is missed, an event
 * shows each, and the model begins with their content. A resumed run skips invoked skills. A skill that was
 * forced in the meantime gets a new step, so that no two uses have the same id.
 */
async function* invokeForced(run: Run): AsyncGenerator<Progress, void, void> {
  const { steps } = run.progress();
  const used = new Set(
    steps.flatMap(({ uses }) =>
      uses.filter(({ tool }) => tool === useSkillName).map(({ input }) => input["skill"]),
    ),
  );
  const pending = run.turn.skills.filter(({ id, forced }) => forced && !used.has(id));
  for (const [index, { id }] of pending.entries()) {
    const callId = run.callId({ step: steps.length + 1, position: index + 1 });
    yield* useTool(run, callId, { name: useSkillName, input: JSON.stringify({ skill: id }) });
  }
}

/**
 * Extracts the value of the requested output schema (spec/api.md 9.5) from the conversation: one attempt, and
 * a second one when the value does not conform. Undefined when the model returns none: the answer is kept,
 * and the extraction counts as failed.
 */
async function* extract(
  run: Run,
  schema: JsonObject,
  answer: string,
): AsyncGenerator<Progress, Json | undefined, void> {
  const request: ChatMessage = {
    role: "user",
    content: `Now return the resulting value, as JSON only. Its schema is: ${JSON.stringify(schema)}`,
  };
  let tail: readonly ChatMessage[] = [{ role: "assistant", content: answer }, request];
  let value: Json | undefined;
  for (let tries = 0; tries < 2; tries += 1) {
    const text = yield* askForText(run, tail, schema);
    if (text === undefined) return value;
    const parsed = valueIn(text);
    value = parsed ?? value;
    if (structuredResult(schema, parsed).success) return parsed;
    const wrong = parsed === undefined ? "That is not JSON." : "That does not conform to the schema.";
    tail = [
      ...tail,
      { role: "assistant", content: text },
      { role: "user", content: `${wrong} Return the value again, as JSON only.` },
    ];
  }
  return value;
}

/** Returns the model's text; undefined when there is no answer. */
async function* askForText(
  run: Run,
  tail: readonly ChatMessage[],
  format: JsonObject,
): AsyncGenerator<Progress, string | undefined, void> {
  try {
    return (yield* runStep(run, { tail, format, quiet: true })).text;
  } catch (thrown) {
    if (thrown instanceof TurnError) return undefined;
    throw thrown;
  }
}

/** Parses the JSON in a text, also between code fences, which some models add; undefined without JSON. */
const valueIn = (text: string): Json | undefined =>
  parseJson(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text.trim())?.[1] ?? text);

/** The most times that an answer that was cut at its token limit is continued. */
const continuationsMax = 4;

/**
 * An agent that uses a language model. In each step the model writes text and uses tools, until it answers
 * without tools. A model does not repeat itself exactly, so a resumed run relies on the events of the turn
 * (`conversation.ts`): it yields the written events unchanged, and calls the model for the steps after them.
 */
export const modelAgent = (parts: ModelParts): Agent =>
  Object.assign(agentOf(parts), { reserves: true } as const);

const agentOf = (parts: ModelParts): Agent =>
  async function* (turn) {
    if (turn.written.length > 0) yield { events: turn.written };
    const run = openRun(parts, turn);
    try {
      return yield* work(run);
    } catch (thrown) {
      if (!(thrown instanceof TurnError)) throw thrown;
      yield* closeTurn(run, "failed");
      return { kind: "fail", errorType: thrown.errorType, content: thrown.content };
    }
  };

async function* work(run: Run): AsyncGenerator<Progress, Outcome, void> {
  const { open } = run.progress();
  const outcome = open && (yield* runUse(run, open));
  if (outcome) return outcome;
  yield* recordWaits(run);
  yield* invokeForced(run);
  for (;;) {
    const { hasBegun, openText, steps } = run.progress();
    const answer = yield* runStep(run, { quiet: hasBegun, ...(openText === "" ? { live: "" } : {}) });
    if (answer.calls.length === 0) return yield* conclude(run, answer);
    const text = answer.text.trim();
    if (text !== "" && openText === "")
      yield run.record([{ type: "assistant_message", payload: { content: text, deliveryKind: "progress" } }]);
    const end = yield* useAll(run, answer, steps.length + 1);
    if (end) return end;
  }
}

/**
 * Runs a step's tool calls. Calls after a question or a confirmation are dropped: the model may request them
 * again.
 */
async function* useAll(
  run: Run,
  { calls }: Answer,
  step: number,
): AsyncGenerator<Progress, Outcome | null, void> {
  for (const [index, call] of calls.entries()) {
    const end = yield* useTool(run, run.callId({ step, position: index + 1 }), call);
    if (end) return end;
  }
  return null;
}

/** Ends the turn with the model's full answer, and the value of the requested output schema. */
async function* conclude(run: Run, answer: Answer): AsyncGenerator<Progress, Outcome, void> {
  const content = yield* wholeText(run, answer);
  const { outputSchema } = run.turn;
  const output = outputSchema === null ? undefined : yield* extract(run, outputSchema, content);
  yield* closeTurn(run, "done");
  return { kind: "finish", content, ...defined({ output }) };
}

/**
 * Returns the full text, with continuations. @throws TurnError `model_refused` when the endpoint's filter
 * removed all text.
 */
async function* wholeText(run: Run, first: Answer): AsyncGenerator<Progress, string, void> {
  if (first.text.trim() === "")
    throw new TurnError("model_refused", "The model's service withheld the answer: its filter refused it.");
  let { text, finish } = first;
  for (let times = 0; finish === "length" && times < continuationsMax; times += 1) {
    const tail: ChatMessage[] = [
      { role: "assistant", content: text },
      { role: "user", content: "Continue exactly where you stopped. Repeat nothing." },
    ];
    const more = yield* runStep(run, { tail, format: "text", quiet: true, live: text.trimStart() });
    text += more.text;
    finish = more.finish;
  }
  return finish === "length" ? `${text.trim()}\n\n[…]` : text.trim();
}

/** Ends the plan's current step with the turn, and reports the last usage. */
async function* closeTurn(run: Run, status: "done" | "failed"): AsyncGenerator<Progress, void, void> {
  const events = closePlan(run.progress().plan, status, run.turn.clock.now());
  if (events.length > 0 || run.hasUnreportedCosts()) yield run.record(events);
}
