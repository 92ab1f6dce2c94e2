import type { Memo } from "./memo.ts";
import { type Plan, stepsLeft } from "./plan.ts";
import { type Orders, type Placed, readOrders } from "./reading.ts";

/** All that a turn is to do, in order; `prose` is the text of its messages around the directives. */
export interface TurnOrders {
  readonly directives: readonly Placed[];
  readonly prose: string;
}

/** The most characters of a turn's directives: what a chain of questions hands on stays bounded. */
const lengthMax = 100_000;

/** Reads what an earlier turn has left, then the messages; or says where the first fault stands, and the rule it broke. */
export function readTurn(messages: readonly string[], memo: Memo | null): TurnOrders | { readonly fault: string } {
  const directives: Placed[] = [];
  const prose: string[] = [];
  const brokenBy = sequence(memo?.plan);
  for (const [i, text] of [memo?.left ?? "", ...messages].entries()) {
    const orders = inSequence(readOrders(text), brokenBy);
    if ("fault" in orders) return { fault: `${placeOf(i, messages.length)} position ${orders.fault.position}: ${orders.fault.rule}` };
    directives.push(...orders.directives);
    if (orders.prose !== "") prose.push(orders.prose);
  }
  return { directives, prose: prose.join("\n") };
}

function placeOf(message: number, of: number): string {
  if (message === 0) return "in what was left from before, at";
  return of === 1 ? "at" : `message ${message} of ${of}, at`;
}

/** A rule that a directive breaks by what stands before it; asked in order. */
type BrokenBy = (placed: Placed) => string | undefined;

function inSequence(orders: Orders, brokenBy: BrokenBy): Orders {
  if ("fault" in orders) return orders;
  for (const placed of orders.directives) {
    const rule = brokenBy(placed);
    if (rule !== undefined) return { fault: { position: placed.position, rule } };
  }
  return orders;
}

function sequence(plan: Plan | undefined): BrokenBy {
  let steps = plan && stepsLeft(plan);
  let length = 0;
  return ({ directive, source }) => {
    length += source.length;
    if (length > lengthMax) return `the directives of a turn, with those left from before, have at most ${lengthMax} characters`;
    if (directive.name === "plan") steps = directive.titles.length + 1;
    if (directive.name !== "step") return undefined;
    if (steps === undefined) return "step needs a plan before it";
    if (steps === 0) return "the plan has no more steps";
    steps -= 1;
    return undefined;
  };
}
