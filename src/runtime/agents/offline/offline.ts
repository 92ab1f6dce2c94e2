import type { NewEvent } from "../../../core/tasks/event.ts";
import type { Agent, Outcome, Turn } from "../../agent.ts";
import { answer, plan } from "./answer.ts";
import { type Directive, readOrders } from "./directives.ts";

/**
 * The embedded default: deterministic, without key, network or delay of its own.
 * The same turn gives the same events. It answers from the messages, the project's
 * instruction and what was said before, and obeys the directives in the messages.
 */
export const offlineAgent: Agent = async function* (turn) {
  const orders = readOrders(turn.messages.join("\n"));
  if ("fault" in orders) {
    const { position, rule } = orders.fault;
    return { kind: "fail", errorType: "invalid_directive", content: `at position ${position}: ${rule}` };
  }
  for (const directive of orders.directives) {
    const outcome = yield* obey(directive, turn);
    if (outcome) return outcome;
  }
  if (orders.directives.length === 0) yield* work(orders.prose);
  return { kind: "finish", content: answer({ ...turn, text: orders.prose }) };
};

async function* obey(directive: Directive, { clock, signal, claim }: Turn): AsyncGenerator<readonly NewEvent[], Outcome | undefined, void> {
  switch (directive.name) {
    case "say":
      yield [{ type: "assistant_message", payload: { content: directive.text, deliveryKind: "progress" } }];
      return undefined;
    case "sleep":
      await clock.sleep(directive.seconds * 1000, signal);
      return undefined;
    case "fail":
      return { kind: "fail", errorType: directive.errorType, content: directive.text };
    case "forever":
      for (;;) await clock.sleep(60_000, signal);
    case "crash":
      return claim === 1 ? { kind: "abandon" } : undefined;
  }
}

/** A plan in two or three steps, told as it is worked through. */
async function* work(text: string): AsyncGenerator<readonly NewEvent[], void, void> {
  const steps = plan(text);
  const snapshot = (done: number): NewEvent => ({
    type: "plan_update",
    payload: { steps: steps.map(({ title }, i) => ({ title, status: i < done ? "done" : i === done ? "doing" : "todo" })) },
  });
  for (const [i, { title, thought }] of steps.entries()) {
    yield [
      snapshot(i),
      { type: "new_plan_step", payload: { stepId: `step_${i + 1}`, title } },
      { type: "explanation", payload: { content: thought } },
    ];
  }
  yield [snapshot(steps.length)];
}
