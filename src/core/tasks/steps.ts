import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import { type DirectClaims, noDirectClaims } from "./direct-claims.ts";
import type { NewEvent } from "./event.ts";
import type { Task, TaskChanges, TaskView, TaskWritten } from "./task.ts";

export interface TaskSteps {
  /** The caller's task. Its row stays locked until the transaction ends. @throws Failure `not_found` */
  lock(tx: Tx, caller: Caller, id: string): Promise<TaskView>;
  /** @throws Failure `not_found` */
  advance(tx: Tx, id: string, set: TaskChanges, events?: readonly NewEvent[]): Promise<TaskWritten>;
  /**
   * Claims a running task without a runner for this process, or leaves it in the queue and notifies the
   * runners of its profile.
   */
  enqueue(tx: Tx, task: Task): Promise<void>;
  /** Inserts a running task with its first events, and does the same. */
  insert(tx: Tx, task: Task, events: readonly NewEvent[], options?: InsertOptions): Promise<TaskWritten>;
}

interface InsertOptions {
  /** What the row of a new task cannot have yet. */
  readonly set?: TaskChanges | undefined;
  /** As of `TaskRows.insert`. */
  readonly isSubscribed?: boolean;
}

export function taskSteps(
  clock: Clock,
  remoteProfiles: readonly string[] = [],
  direct: DirectClaims = noDirectClaims,
): TaskSteps {
  async function notify(tx: Tx, { id, agentProfile }: Task): Promise<void> {
    if (remoteProfiles.includes(agentProfile)) tx.workerRuns.notifyPollers();
    else await tx.jobs.put({ kind: "run", key: id, runAt: clock.now() });
  }
  async function advance(
    tx: Tx,
    id: string,
    set: TaskChanges,
    events: readonly NewEvent[] = [],
  ): Promise<TaskWritten> {
    const written = await tx.tasks.advance(id, { now: clock.now(), set, events });
    if (!written) throw notFound("task");
    return written;
  }
  return {
    async lock(tx, caller, id) {
      const task = await tx.tasks.lock(caller, id);
      if (!task) throw notFound("task");
      return task;
    },
    advance,
    async enqueue(tx, task) {
      if (!(await direct.claim(tx, task))) await notify(tx, task);
    },
    async insert(tx, task, events, { set, isSubscribed } = {}) {
      const claim = await direct.reserve(tx, task);
      const inserted = await tx.tasks.insert(claim?.claimed(task, events) ?? task, events, isSubscribed);
      const { task: complete } = set ? await advance(tx, task.id, set) : inserted;
      if (claim) claim.start(tx, complete, events);
      else await notify(tx, complete);
      return { ...inserted, task: complete };
    },
  };
}
