import type { Json } from "../../../core/json.ts";
import { sampleValue } from "../../../core/structured-output/sample.ts";
import type { Agent, Outcome, Progress, Turn } from "../../agent.ts";
import { answer, stepsFor } from "./answer.ts";
import { type Memo, type Request, readMemo } from "./memo.ts";
import { beginWork, explanation, obey, type Work } from "./obey.ts";
import { type PlanKeeper, planKeeper } from "./plan.ts";
import { proseOf } from "./reading.ts";
import { readTurn, type TurnOrders } from "./turn-orders.ts";
import { askWhatIsWanted, isThin } from "./unclear.ts";

/**
 * The embedded default: deterministic, without key, network or delay of its own.
 * The same turn gives the same events. It answers from the messages, the project's
 * instruction and what was said before, and obeys the directives in the messages.
 */
export const offlineAgent: Agent = async function* (turn) {
  const memo = readMemo(turn.memo);
  const plan = planKeeper(turn, memo?.plan);
  const orders = readTurn(turn.messages, memo);
  const outcome = "fault" in orders ? invalidDirective(orders.fault) : yield* carryOut(orders, turn, memo, plan);
  if (outcome.kind === "finish") yield* lastOf(plan, "done");
  if (outcome.kind === "fail") yield* lastOf(plan, "failed");
  return outcome;
};

const invalidDirective = (content: string): Outcome => ({ kind: "fail", errorType: "invalid_directive", content });

async function* carryOut(orders: TurnOrders, turn: Turn, memo: Memo | null, plan: PlanKeeper): AsyncGenerator<Progress, Outcome, void> {
  const request = requestOf(turn, orders, memo);
  const { text, ordered } = request;
  if (turn.interactive && !memo && !ordered && isThin(text)) return askWhatIsWanted(request);
  const work = beginWork(turn, request, plan, memo?.value);
  const outcome = yield* obey(orders.directives, work);
  if (outcome) return outcome;
  if (!ordered) yield* workThrough(text, plan);
  return { kind: "finish", content: answer({ ...turn, ...request }), ...outputOf(work, orders.prose) };
}

/** What is to be answered: all that was said since the turn that asked, if one did. */
function requestOf(turn: Turn, { directives, prose }: TurnOrders, memo: Memo | null): Request {
  const ordered = directives.length > 0;
  if (!memo) return { text: prose, previous: previousOf(turn), ordered };
  const { text, previous, ordered: before } = memo.request;
  return { text: [text, prose].filter(Boolean).join("\n"), previous, ordered: ordered || before };
}

const previousOf = ({ earlier }: Turn): string => proseOf(earlier.findLast(({ role }) => role === "user")?.content ?? "");

/** What a directive gave, or else what an armed schema asks for, from the whole conversation. */
function outputOf({ turn: { outputSchema, earlier }, value }: Work, prose: string): { readonly output?: Json } {
  if (value !== undefined) return { output: value };
  if (outputSchema === null) return {};
  const before = earlier.filter(({ role }) => role === "user").map(({ content }) => proseOf(content));
  return { output: sampleValue(outputSchema, [...before, prose].filter(Boolean).join("\n")) };
}

/** The work that nobody has to order: a plan in two or three steps, told as it is worked through. */
function* workThrough(text: string, plan: PlanKeeper): Generator<Progress, void, void> {
  const steps = stepsFor(text);
  plan.draw(steps.map(({ title }) => title));
  for (const { thought } of steps) yield { events: [...plan.step(), explanation(thought)] };
}

/** A step under way ends with its turn. */
function* lastOf(plan: PlanKeeper, status: "done" | "failed"): Generator<Progress, void, void> {
  const events = plan.close(status);
  if (events.length > 0) yield { events };
}
