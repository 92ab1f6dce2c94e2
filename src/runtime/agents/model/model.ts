import { defined } from "../../../core/defined.ts";
import { type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { structuredResult } from "../../../core/structured-output/structured-output.ts";
import type { CallPart } from "../../../core/tasks/transcript.ts";
import type { Agent, Outcome, Progress } from "../../agent.ts";
import type { Answer, RequestedCall } from "./answer.ts";
import { beginTurn, readMessages } from "./begin.ts";
import { TurnError } from "./fault.ts";
import { closePlan, isOpen, planReminder } from "./plan.ts";
import { type ModelParts, openRun, type Run } from "./run.ts";
import { runStep, type StepOptions } from "./step.ts";
import { callIdOf, partsOf, planOf, usedBy } from "./transcript.ts";
import { closeCalls, readInput, useCalls } from "./use.ts";

/**
 * An agent that uses a language model. In each step the model writes text and uses tools, until it answers
 * without tools. The transcript has all that the model was given and has answered. A run that continues reads
 * its rows: it uses the tools whose results are missing, and calls the model for the next step.
 */
export const modelAgent = (parts: ModelParts): Agent =>
  Object.assign(agentOf(parts), { reserves: true } as const);

const agentOf = (parts: ModelParts): Agent =>
  async function* (turn) {
    if (turn.written.length > 0) yield { events: turn.written };
    const run = await openRun(parts, turn);
    try {
      return yield* work(run);
    } catch (thrown) {
      if (!(thrown instanceof TurnError)) throw thrown;
      yield* closeTurn(run);
      return {
        kind: "fail",
        errorType: thrown.errorType,
        content: thrown.content,
        rows: run.transcript.take(),
      };
    }
  };

async function* work(run: Run): AsyncGenerator<Progress, Outcome, void> {
  yield* beginTurn(run);
  // Thoughts of a lost step are shown already.
  for (let quiet = run.turn.written.at(-1)?.type === "explanation"; ; quiet = false) {
    const end = yield* useCalls(run);
    if (end) return end;
    yield* readMessages(run);
    const answer = yield* stepOrText(run, quiet);
    if (typeof answer === "string") return yield* finish(run, answer);
    const isLast = !answer.parts.some(({ type }) => type === "call");
    const reminds = isLast && answer.finish === "stop" && needsReminder(run);
    if (isLast && !reminds) return yield* conclude(run, answer);
    addAnswer(run, answer);
    if (reminds) run.transcript.add("user", [{ type: "text", text: planReminder, by: "platform" }]);
    const content = answer.text.trim();
    yield run.record(
      content === "" ? [] : [{ type: "assistant_message", payload: { content, deliveryKind: "progress" } }],
    );
  }
}

/** Runs a step. When it fails after a reminder, the text before the reminder is the answer. */
async function* stepOrText(run: Run, quiet: boolean): AsyncGenerator<Progress, Answer | string, void> {
  try {
    return yield* runStep(run, { quiet, live: "" });
  } catch (thrown) {
    const { rows } = run.transcript;
    const last = rows.findLast(({ role }) => role === "user" || role === "tool");
    const isReminded = partsOf(last ? [last] : [], "text").some(({ text }) => text === planReminder);
    if (!(thrown instanceof TurnError) || last?.role !== "user" || !isReminded) throw thrown;
    const before = rows.filter(({ role }) => role === "assistant").slice(-1);
    return partsOf(before, "text")
      .map(({ text }) => text)
      .join("\n\n")
      .trim();
  }
}

/** True once in a turn, when its plan is open and steps are left to end it and to answer again. */
function needsReminder({ transcript: { rows }, turn: { number }, config }: Run): boolean {
  const own = rows.filter(({ role, turn }) => role === "user" && turn === number);
  return (
    planOf(rows).some(isOpen) &&
    !partsOf(own, "text").some(({ text }) => text === planReminder) &&
    usedBy(rows, number).steps + 3 <= config.limits.steps
  );
}

/**
 * Adds an answer as the model gave it. Only the ids of calls are ours: some services give the same id twice.
 */
function addAnswer(
  { transcript, config }: Run,
  { parts, finish, inputTokens, cachedTokens, outputTokens }: Answer,
): void {
  let calls = 0;
  transcript.add(
    "assistant",
    parts.map((part, place) => {
      if (part.type !== "call") return part;
      const call = callOf(part, callIdOf(transcript.rows, calls++));
      return finish === "length" && place === parts.length - 1 ? { ...call, isCut: true as const } : call;
    }),
    { model: config.model, inputTokens, cachedTokens, outputTokens },
  );
}

const callOf = ({ name, input, providerOptions }: RequestedCall, toolCallId: string): CallPart => ({
  type: "tool-call",
  toolCallId,
  toolName: name,
  input: readInput(input),
  ...defined({ providerOptions }),
});

/**
 * Ends the turn with the model's full answer, and the value of the requested output schema. Their rows are
 * written with the end.
 */
async function* conclude(run: Run, answer: Answer): AsyncGenerator<Progress, Outcome, void> {
  return yield* finish(run, yield* wholeText(run, answer));
}

async function* finish(run: Run, content: string): AsyncGenerator<Progress, Outcome, void> {
  const { outputSchema } = run.turn;
  const output = outputSchema === null ? undefined : yield* extract(run, outputSchema);
  yield* closeTurn(run);
  return { kind: "finish", content, ...defined({ output }), rows: run.transcript.take() };
}

/** The most times that an answer that was cut at its token limit is continued. */
const continuationsMax = 4;

/**
 * Returns the full text, with continuations. @throws TurnError `model_refused` when the endpoint's filter
 * removed all text.
 */
async function* wholeText(run: Run, first: Answer): AsyncGenerator<Progress, string, void> {
  if (first.text.trim() === "")
    throw new TurnError("model_refused", "The model's service withheld the answer: its filter refused it.");
  addAnswer(run, first);
  let { text, finish } = first;
  for (let times = 0; finish === "length" && times < continuationsMax; times += 1) {
    const request = "Continue exactly where you stopped. Repeat nothing.";
    const more = yield* askAgain(run, request, { format: "text", quiet: true, live: text.trimStart() });
    text += more.text;
    finish = more.finish;
  }
  return finish === "length" ? `${text.trim()}\n\n[…]` : text.trim();
}

/**
 * Extracts the value of the requested output schema (spec/api.md 9.5) from the conversation: one attempt, and
 * a second one when the value does not conform. Undefined when the model returns none: the answer is kept,
 * and the extraction counts as failed.
 */
async function* extract(run: Run, schema: JsonObject): AsyncGenerator<Progress, Json | undefined, void> {
  let request = `Now return the resulting value, as JSON only. Its schema is: ${JSON.stringify(schema)}`;
  let value: Json | undefined;
  let format: JsonObject | "text" = schema;
  for (let tries = 0; tries < 2; tries += 1) {
    let answer = yield* answerOrError(askAgain(run, request, { format, quiet: true }));
    // Some services refuse a schema together with tools.
    if (run.config.structuredOutputs && format !== "text" && answer.errorType === "model_refused") {
      format = "text";
      answer = yield* answerOrError(askAgain(run, request, { format, quiet: true }));
    }
    if (answer.text === undefined) return value;
    const parsed = valueIn(answer.text);
    value = parsed ?? value;
    if (structuredResult(schema, parsed).success) return parsed;
    const wrong = parsed === undefined ? "That is not JSON." : "That does not conform to the schema.";
    request = `${wrong} Return the value again, as JSON only.`;
  }
  return value;
}

/** Returns the model's text, or why there is none. */
async function* answerOrError(
  asked: AsyncGenerator<Progress, Answer, void>,
): AsyncGenerator<Progress, { readonly text?: string; readonly errorType?: string }, void> {
  try {
    return yield* asked;
  } catch (thrown) {
    if (thrown instanceof TurnError) return { errorType: thrown.errorType };
    throw thrown;
  }
}

/**
 * Asks for more after the answer. Tools are not used for it. @throws TurnError when the model does not
 * answer: then nothing was asked.
 */
async function* askAgain(
  run: Run,
  request: string,
  options: StepOptions,
): AsyncGenerator<Progress, Answer, void> {
  const { transcript } = run;
  transcript.add("user", [{ type: "text", text: request, by: "platform" }]);
  try {
    const answer = yield* runStep(run, options);
    if (answer.parts.length === 0) transcript.drop();
    else addAnswer(run, answer);
    closeCalls(run);
    return answer;
  } catch (thrown) {
    if (thrown instanceof TurnError) transcript.drop();
    throw thrown;
  }
}

/** Parses the JSON in a text, also between code fences, which some models add; undefined without JSON. */
const valueIn = (text: string): Json | undefined =>
  parseJson(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text.trim())?.[1] ?? text);

/**
 * Ends the plan's current step with the turn, and reports the last usage. The rows are written with the end.
 */
async function* closeTurn(run: Run): AsyncGenerator<Progress, void, void> {
  // A run that was lost after this has shown the end of the plan.
  const shown = run.events.findLast((event) => event.type === "plan_update")?.payload.steps;
  const events = closePlan(shown ?? planOf(run.transcript.rows), run.turn.clock.now());
  if (events.length > 0 || run.hasUnreportedCosts()) yield run.recordLast(events);
}
