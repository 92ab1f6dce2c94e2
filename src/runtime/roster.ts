import { Failure } from "../core/failure.ts";
import type { Task } from "../core/tasks/task.ts";
import { giveBack } from "./claims.ts";
import { type RunParts, runTask } from "./run.ts";

interface Run {
  readonly fence: number;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** The runs of this process: at most one of a task, from its start until its agent has cleaned up. */
export interface Roster {
  size(): number;
  /** A task whose earlier run has not ended yet is not run twice. */
  has(taskId: string): boolean;
  /** Runs that were aborted and have not ended. */
  leaving(): number;
  start(task: Task): void;
  /** Aborts the runs that do not hold. */
  keep(holds: (taskId: string, fence: number) => boolean): void;
  abort(taskId: string): void;
  abortAll(why: string): void;
  /** The fence that a task is run with here. */
  fence(taskId: string): number | undefined;
  /** Resolves when all runs of this moment have ended. */
  ended(): Promise<void>;
}

/** @param onEnd called after a run has ended. */
export function openRoster(parts: RunParts, onEnd: () => void): Roster {
  const { store, clock, log } = parts;
  const runs = new Map<string, Run>();
  const living = () => [...runs].filter(([, { abort }]) => !abort.signal.aborted);

  /** That the database is away, or full, is no fault of the task's: then its claim is not held against it. */
  async function failed(task: Task, cause: unknown): Promise<void> {
    log("error", "a run failed", { taskId: task.id, cause });
    if (!(cause instanceof Failure && cause.reason === "unavailable")) return;
    const kept = (still: unknown) => log("warn", "a run that failed was not given back", { taskId: task.id, cause: still });
    await store.change((tx) => giveBack(tx, [task], clock.now())).catch(kept);
  }

  return {
    size: () => runs.size,
    has: (taskId) => runs.has(taskId),
    leaving: () => runs.size - living().length,
    fence: (taskId) => runs.get(taskId)?.fence,
    start(task) {
      const abort = new AbortController();
      const ended = runTask(task, abort.signal, parts)
        .catch((cause: unknown) => failed(task, cause))
        .then(() => {
          runs.delete(task.id);
          // Whatever of the agent still listens hears that it is over; no error is made for it.
          abort.abort("over");
          onEnd();
        });
      runs.set(task.id, { fence: task.fence, abort, ended });
    },
    keep(holds) {
      for (const [taskId, { fence, abort }] of living()) if (!holds(taskId, fence)) abort.abort();
    },
    abort: (taskId) => runs.get(taskId)?.abort.abort(),
    abortAll(why) {
      const given = living();
      if (given.length > 0) log("info", "runs are given up", { runs: given.length, why });
      for (const [, { abort }] of given) abort.abort();
    },
    ended: async () => void (await Promise.all([...runs.values()].map(({ ended }) => ended))),
  };
}
