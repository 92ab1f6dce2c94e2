import type { Clock } from "../core/clock.ts";
import type { JobNeeds, TimedJob } from "../core/processes/timed-job.ts";
import type { PublishTask, Tx } from "../core/store.ts";
import { fail } from "../core/tasks/lifecycle.ts";
import type { ClaimableTask } from "../core/tasks/task-rows.ts";

/** The most turns that are ended in one change. */
const batchMax = 100;

interface TurnNeeds extends Pick<JobNeeds, "store"> {
  readonly clock: Pick<Clock, "now">;
  readonly publishTask: PublishTask;
}

/**
 * Ends turns that have exceeded the time limit of their profile: the task ends in `error`, and the fence
 * refuses the writes of its run, in this process, another one or a worker. Every process does this.
 */
export async function endOverdueTurns({ store, clock, publishTask }: TurnNeeds): Promise<void> {
  for (;;) {
    const overdue = await store.tasks.listOverdue(clock.now(), batchMax);
    if (overdue.length === 0) return;
    // Lock order: by task id, in every process.
    const byId = overdue.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await store.change(async (tx) => {
      for (const task of byId) await endOverdue(tx, task, clock.now(), publishTask);
    });
    if (overdue.length < batchMax) return;
  }
}

/** A message that the turn has not read begins the next turn: the task is queued again. */
async function endOverdue(
  tx: Tx,
  { id, fence, spaceId, agentProfile }: ClaimableTask,
  now: number,
  publishTask: PublishTask,
): Promise<void> {
  // Locked in this order by every call of a worker too.
  await tx.workerRuns.remove({ taskId: id, fence });
  const settings = (await tx.agentProfiles.list(spaceId)).find(({ profile }) => profile === agentProfile);
  const limit = settings?.timeLimit ? ` of ${settings.timeLimit} seconds` : "";
  const { set, events, messages } = fail(
    "timeout",
    `The turn took longer than the time limit${limit} of the profile ${agentProfile}.`,
  );
  const when = { fence, status: "running" } as const;
  const ended = await tx.tasks.advance(id, {
    now,
    when: { ...when, consumed: true },
    set: { ...set, raiseFence: true },
    events,
  });
  if (ended) return void (await publishTask(tx, ended));
  const nextTurn = {
    nodeId: null,
    requiredNodeId: null,
    raiseFence: true,
    claims: 0,
    idleClaims: 0,
    queuedAt: now,
    memo: null,
    turnUntil: null,
  } as const;
  const next = await tx.tasks.advance(id, { now, when, set: nextTurn, events: messages });
  if (!next) return;
  await publishTask(tx, next);
  await tx.jobs.put({ kind: "run", key: id, runAt: now });
}

/** A turn ends at most a second after its time limit. */
export const endTurns: TimedJob<JobNeeds & TurnNeeds> = {
  name: "end-overdue-turns",
  every: 1_000,
  run: endOverdueTurns,
};
