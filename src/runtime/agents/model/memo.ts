import type { Json, JsonObject } from "../../../core/json.ts";
import type { PlanStep } from "../../../core/tasks/event.ts";
import type { Progressed, Used } from "./conversation.ts";

/** What a turn that asks leaves to the turn that is answered: the plan, and what its tools have found. */
export interface Memo {
  readonly used: readonly Used[];
  readonly plan: readonly PlanStep[];
}

/** So many characters of JSON are left, the newest uses first. */
const memoMax = 100_000;

/** The memo of a turn that asks; what it was left itself goes on, as far as there is room. */
export function memoOf({ steps, plan }: Progressed, before: Memo): Json {
  const used: Used[] = [];
  let room = memoMax;
  for (const use of [...before.used, ...steps.flatMap(({ uses }) => uses)].toReversed()) {
    room -= JSON.stringify(use).length;
    if (room < 0) break;
    used.unshift(use);
  }
  // Nothing but JSON is in them.
  return { used, plan } as unknown as JsonObject;
}

/** A memo that `memoOf` has made; an empty one for any other value, for instance what another agent has left. */
export function readMemo(memo: Json): Memo {
  const { used, plan } = memo !== null && typeof memo === "object" && !Array.isArray(memo) ? memo : {};
  if (!Array.isArray(used) || !Array.isArray(plan)) return { used: [], plan: [] };
  // `memoOf` has made them.
  return { used: used as unknown as readonly Used[], plan: plan as unknown as readonly PlanStep[] };
}
