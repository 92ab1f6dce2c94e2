import type { JsonObject } from "../../../core/json.ts";
import { sampleValue } from "../../../core/structured-output/sample.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import type { Agent, Outcome, Turn } from "../../agent.ts";
import { answer, plan } from "./answer.ts";
import { type Directive, type Orders, readOrders } from "./directives.ts";

/**
 * The embedded default: deterministic, without key, network or delay of its own.
 * The same turn gives the same events. It answers from the messages, the project's
 * instruction and what was said before, and obeys the directives in the messages.
 */
export const offlineAgent: Agent = async function* (turn) {
  const orders = turn.messages.map(readOrders);
  const fault = faultIn(orders);
  if (fault !== undefined) return { kind: "fail", errorType: "invalid_directive", content: fault };
  const directives = orders.flatMap((order) => ("fault" in order ? [] : order.directives));
  for (const directive of directives) {
    const outcome = yield* obey(directive, turn);
    if (outcome) return outcome;
  }
  const text = orders.map(proseOf).filter(Boolean).join("\n");
  if (directives.length === 0) yield* work(text, turn);
  return { kind: "finish", content: answer({ ...turn, text, previous: previousOf(turn) }), ...outputOf(turn, text) };
};

/** What an armed schema asks for, from the whole conversation. */
function outputOf({ outputSchema, earlier }: Turn, text: string): { readonly output?: JsonObject } {
  if (outputSchema === null) return {};
  const before = earlier.filter(({ role }) => role === "user").map(({ content }) => proseOf(readOrders(content)));
  return { output: sampleValue(outputSchema, [...before, text].filter(Boolean).join("\n")) };
}

/** Where the first fault stands, and the rule it broke. */
function faultIn(orders: readonly Orders[]): string | undefined {
  for (const [i, order] of orders.entries()) {
    if (!("fault" in order)) continue;
    const place = orders.length === 1 ? "at" : `message ${i + 1} of ${orders.length}, at`;
    return `${place} position ${order.fault.position}: ${order.fault.rule}`;
  }
  return undefined;
}

const proseOf = (orders: Orders): string => ("fault" in orders ? "" : orders.prose);

const previousOf = ({ earlier }: Turn): string => proseOf(readOrders(earlier.findLast(({ role }) => role === "user")?.content ?? ""));

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

/** A plan in two or three steps, told as it is worked through; its times are Unix seconds. */
async function* work(text: string, { clock }: Turn): AsyncGenerator<readonly NewEvent[], void, void> {
  const steps = plan(text);
  /** When each step began, and the end of the last one: a step ends as the next begins. */
  const times: number[] = [];
  const snapshot = (doing: number): NewEvent => {
    times.push(Math.floor(clock.now() / 1000));
    const timesOf = (i: number) => {
      const [startedAt, endAt] = [times[i], times[i + 1]];
      return { ...(startedAt === undefined ? {} : { startedAt }), ...(endAt === undefined ? {} : { endAt }) };
    };
    return {
      type: "plan_update",
      payload: {
        steps: steps.map(({ title }, i) => ({ title, status: i < doing ? "done" : i === doing ? "doing" : "todo", ...timesOf(i) })),
      },
    };
  };
  for (const [i, { title, thought }] of steps.entries()) {
    yield [
      snapshot(i),
      { type: "new_plan_step", payload: { stepId: `step_${i + 1}`, title } },
      { type: "explanation", payload: { content: thought } },
    ];
  }
  yield [snapshot(steps.length)];
}
