import type { PublishTask, Tx } from "../core/store.ts";
import { fail } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { ClaimableTask, QueuePart } from "../core/tasks/task-rows.ts";

/** The number of successive claims without an event after which a task fails. */
export const idleClaimsMax = 25;

const tooManyClaims = fail(
  "internal",
  "The task was stopped: it was started too many times without progress.",
);

/** The process or worker that claims, at a time. */
export interface Claimant {
  readonly nodeId: string;
  readonly now: number;
  readonly publishTask: PublishTask;
}

/**
 * The tasks that may run within the limits of their profiles, in their order. The limits stay locked until
 * the change ends, so that claims of several processes are counted sequentially. Call it before tasks are
 * locked.
 */
export async function withinLimits(
  tx: Tx,
  candidates: readonly ClaimableTask[],
): Promise<readonly ClaimableTask[]> {
  const limited = new Set(candidates.filter(({ nodeId, isLimited = false }) => nodeId === null && isLimited));
  if (limited.size === 0) return candidates;
  const room = new Map<string, number>();
  for (const settings of await tx.agentProfiles.lockLimited([...limited])) {
    const { spaceId, profile, concurrency } = settings;
    room.set(`${spaceId} ${profile}`, concurrency - (await tx.agentProfiles.countRuns(settings)));
  }
  return candidates.filter((task) => {
    const profile = `${task.spaceId} ${task.agentProfile}`;
    const left = limited.has(task) ? room.get(profile) : undefined;
    if (left === undefined) return true;
    room.set(profile, left - 1);
    return left > 0;
  });
}

/** Claims the tasks that may run within the limits of their profiles. */
export const claimWithinLimits = async (
  tx: Tx,
  candidates: readonly ClaimableTask[],
  by: Claimant,
): Promise<readonly Task[]> => claimTasks(tx, await withinLimits(tx, candidates), by);

/**
 * Claims tasks that have not changed since they were read. The task's row alone, its node and fence, decides
 * which process runs it. A task with too many successive claims without an event ends here, in `error`.
 */
export const claimTasks = async (
  tx: Tx,
  candidates: readonly ClaimableTask[],
  by: Claimant,
): Promise<readonly Task[]> => withProgress(tx, await tx.tasks.claim(candidates, by.nodeId, by.now), by);

/** Claims the next tasks of the queue; null where they are listed first (`claimQueued`). */
export async function claimNext(tx: Tx, from: QueuePart, by: Claimant): Promise<readonly Task[] | null> {
  const claimed = await tx.tasks.claimQueued(from, by.nodeId, by.now);
  return claimed && withProgress(tx, claimed, by);
}

/** Ends the tasks that were claimed too often without an event. Returns the others. */
async function withProgress(
  tx: Tx,
  claimed: readonly Task[],
  { now, publishTask }: Claimant,
): Promise<readonly Task[]> {
  for (const { id, fence, idleClaims } of byId(claimed)) {
    if (idleClaims < idleClaimsMax) continue;
    const ended = await tx.tasks.advance(id, {
      now,
      when: { fence },
      set: tooManyClaims.set,
      events: tooManyClaims.events,
    });
    if (ended) await publishTask(tx, ended);
  }
  return claimed.filter(({ idleClaims }) => idleClaims < idleClaimsMax);
}

/**
 * Returns tasks to the queue. A process that can release tasks has not crashed on them, so their idle claims
 * are reset to zero.
 */
export async function releaseClaim(tx: Tx, tasks: readonly ClaimableTask[], now: number): Promise<void> {
  for (const { id, fence, nodeId } of byId(tasks)) {
    const when = { fence, nodeId, status: "running" } as const;
    await tx.tasks.advance(id, { now, when, set: { nodeId: null, raiseFence: true, idleClaims: 0 } });
  }
}

/** Sorts tasks by id: every process locks rows in this order, so that two processes cannot deadlock. */
const byId = <T extends ClaimableTask>(tasks: readonly T[]): readonly T[] =>
  tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
