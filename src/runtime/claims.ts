import type { Tx } from "../core/store.ts";
import { fail } from "../core/tasks/lifecycle.ts";
import type { Claimable, Task } from "../core/tasks/task.ts";

/** Claims in a row without an event, after which a task is taken for one that cannot be run. */
export const idleClaimsMax = 25;

const gaveUp = fail("internal", "The task was given up: it was begun too often without any progress.");

/**
 * Claims for a process what is still as it was seen: who runs a task is said by its
 * row alone, node and fence. A task that was claimed too often to no avail ends here,
 * in `error`.
 */
export async function claimTasks(tx: Tx, candidates: readonly Claimable[], nodeId: string, now: number): Promise<readonly Task[]> {
  const claimed: Task[] = [];
  for (const { id, fence, nodeId: owner, claims } of inOrder(candidates)) {
    const turn = claims === 0 ? ({ beginTurn: true } as const) : ({ addClaim: true } as const);
    const when = { fence, nodeId: owner, status: "running" } as const;
    const task = await tx.tasks.advance(id, { now, when, set: { nodeId, raiseFence: true, servedAt: now, ...turn } });
    if (!task) continue;
    if (task.idleClaims < idleClaimsMax) claimed.push(task);
    else await tx.tasks.advance(id, { now, when: { fence: task.fence }, set: gaveUp.set, events: gaveUp.events });
  }
  return claimed;
}

/**
 * Gives tasks back to the queue, for whoever claims them next. A process that does so
 * in good order shows that they did it no harm: their idle claims are forgotten.
 */
export async function giveBack(tx: Tx, tasks: readonly Claimable[], now: number): Promise<void> {
  for (const { id, fence, nodeId } of inOrder(tasks)) {
    const when = { fence, nodeId, status: "running" } as const;
    await tx.tasks.advance(id, { now, when, set: { nodeId: null, raiseFence: true, idleClaims: 0 } });
  }
}

/** Every process locks rows in the same order, so that two that want the same ones do not wait for each other. */
const inOrder = (tasks: readonly Claimable[]): readonly Claimable[] => tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
