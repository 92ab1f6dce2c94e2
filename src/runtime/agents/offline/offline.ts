import type { Json } from "../../../core/json.ts";
import { sampleValue } from "../../../core/structured-output/sample.ts";
import type { Agent, Outcome, Progress, Turn } from "../../agent.ts";
import { answer, stepsFor } from "./answer.ts";
import { closingOf } from "./closing.ts";
import { type Memo, type Request, readMemo } from "./memo.ts";
import { beginWork, explanation, obey, type Work } from "./obey.ts";
import { type PlanKeeper, planKeeper } from "./plan.ts";
import { profilesOf } from "./profile/profile.ts";
import { proseOf } from "./reading.ts";
import { invokeForced, namesOf } from "./skills.ts";
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
  const request = requestOf(turn, orders, await profilesOf(turn.attachments), memo);
  const { text, files, ordered } = request;
  if (turn.interactive && !memo && !ordered && files === "" && isThin(text)) return askWhatIsWanted(request);
  const work = beginWork(turn, request, plan, memo?.value);
  for await (const progress of invokeForced(turn, work.nextActionId)) {
    work.told += progress.events.length;
    yield progress;
  }
  const content = answer({ ...turn, ...request, skills: namesOf(turn.skills), connectors: turn.connectors.map(({ name }) => name) });
  // Skills do not count: they may be others in the next run of the same turn, whose events must be the same.
  const closing = text === "" && files === "" ? closingOf(orders.directives) : null;
  const outcome = yield* obey(closing?.before ?? orders.directives, work);
  if (outcome) return outcome;
  if (!ordered) yield* workThrough(text, turn.attachments.length, plan);
  const result = closing ? { content: closing.content, files: closing.files } : { content: content || "Done." };
  return { kind: "finish", ...result, ...outputOf(work, orders.prose) };
}

/** What is to be answered: all that was said since the turn that asked, if one did. */
function requestOf(turn: Turn, { directives, prose }: TurnOrders, files: string, memo: Memo | null): Request {
  const ordered = directives.length > 0;
  if (!memo) return { text: prose, files, previous: previousOf(turn), ordered };
  const { text, files: first, previous, ordered: before } = memo.request;
  const both = (...texts: readonly string[]) => texts.filter(Boolean).join("\n");
  return { text: both(text, prose), files: both(first, files), previous, ordered: ordered || before };
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
function* workThrough(text: string, files: number, plan: PlanKeeper): Generator<Progress, void, void> {
  const steps = stepsFor(text, files);
  plan.draw(steps.map(({ title }) => title));
  for (const { thought } of steps) yield { events: [...plan.step(), explanation(thought)] };
}

/** A step under way ends with its turn. */
function* lastOf(plan: PlanKeeper, status: "done" | "failed"): Generator<Progress, void, void> {
  const events = plan.close(status);
  if (events.length > 0) yield { events };
}
