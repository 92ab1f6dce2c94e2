import type { Agent, Outcome, Progress, Said } from "../../agent.ts";
import type { Answer } from "./answer.ts";
import { Ended } from "./ended.ts";
import { extract } from "./extraction.ts";
import { closePlan } from "./plan.ts";
import { type ModelParts, openRun, type Run } from "./run.ts";
import { think } from "./think.ts";
import { carryOut, useTool } from "./use.ts";

/** How often an answer that was cut at its most tokens is gone on with. */
const continuationsMax = 4;

/**
 * An agent that thinks with a language model: step by step the model says something and uses tools, until it answers
 * without any. A model would not do the same twice, so a run that is taken up again goes by the events of the turn
 * (`conversation.ts`): it yields those that are written as they are, and asks the model for what comes after them.
 */
export const modelAgent = (parts: ModelParts): Agent =>
  async function* (turn) {
    if (turn.written.length > 0) yield { events: turn.written };
    const run = openRun(parts, turn);
    try {
      return yield* work(run);
    } catch (thrown) {
      if (!(thrown instanceof Ended)) throw thrown;
      yield* close(run, "failed");
      return { kind: "fail", errorType: thrown.errorType, content: thrown.content };
    }
  };

async function* work(run: Run): AsyncGenerator<Progress, Outcome, void> {
  const { open } = run.progress();
  const waited = open && (yield* carryOut(run, open));
  if (waited) return waited;
  for (;;) {
    const { begun, said, steps } = run.progress();
    const answer = yield* think(run, { quiet: begun });
    if (answer.calls.length === 0) return yield* conclude(run, answer);
    const text = answer.text.trim();
    if (text !== "" && said === "") yield run.tell([{ type: "assistant_message", payload: { content: text, deliveryKind: "progress" } }]);
    const ended = yield* useAll(run, answer, steps.length + 1);
    if (ended) return ended;
  }
}

/** What comes after a question, or after what waits for a decision, is not done: the model may ask for it again. */
async function* useAll(run: Run, { calls }: Answer, step: number): AsyncGenerator<Progress, Outcome | null, void> {
  for (const [index, call] of calls.entries()) {
    const ended = yield* useTool(run, run.callId({ step, place: index + 1 }), call);
    if (ended) return ended;
  }
  return null;
}

/** The model is done: its answer, whole, and what an armed schema asks for. */
async function* conclude(run: Run, answer: Answer): AsyncGenerator<Progress, Outcome, void> {
  const content = yield* wholeText(run, answer);
  const { outputSchema } = run.turn;
  const output = outputSchema === null ? undefined : yield* extract(run, outputSchema, content);
  yield* close(run, "done");
  return { kind: "finish", content, ...(output === undefined ? {} : { output }) };
}

/** @throws Ended `model_refused` when the endpoint's filter left nothing. */
async function* wholeText(run: Run, first: Answer): AsyncGenerator<Progress, string, void> {
  if (first.text.trim() === "") throw new Ended("model_refused", "The model's service held the answer back: its filter refused it.");
  let { text, finish } = first;
  for (let times = 0; finish === "length" && times < continuationsMax; times += 1) {
    const tail: Said[] = [
      { role: "assistant", content: text },
      { role: "user", content: "Go on exactly where you stopped. Repeat nothing." },
    ];
    const more = yield* think(run, { tail, format: "text", quiet: true });
    text += more.text;
    finish = more.finish;
  }
  return finish === "length" ? `${text.trim()}\n\n[…]` : text.trim();
}

/** The step of the plan that is under way ends with the turn; what was used up last goes with it. */
async function* close(run: Run, status: "done" | "failed"): AsyncGenerator<Progress, void, void> {
  const events = closePlan(run.progress().plan, status, run.turn.clock.now());
  if (events.length > 0 || run.owes()) yield run.tell(events);
}
