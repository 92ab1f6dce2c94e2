import { Failure } from "../core/failure.ts";
import { runSpan } from "../core/span-names.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import { endAfter, storedParent, type Tracing, untraced } from "../core/trace.ts";
import type { stopped } from "./agent.ts";
import { releaseClaim } from "./claims.ts";
import { type ModelCalls, modelCalls } from "./model-calls.ts";
import { type RunParts, runTask } from "./run.ts";

interface Run {
  readonly fence: number;
  readonly abort: AbortController;
  readonly calls: ModelCalls;
  readonly ended: Promise<void>;
}

/** The runs of this process: at most one per task, from its start until its agent has cleaned up. */
export interface ActiveRuns {
  size(): number;
  /** True until the task's run has ended; the task must not be run a second time before that. */
  has(taskId: string): boolean;
  /** The tasks for which `has` is true. */
  ids(): readonly string[];
  /** The number of runs that were aborted and have not ended. */
  countAborted(): number;
  /** @param events those that the task was created with, if this is the first run of a new task. */
  start(task: Task, events?: readonly TaskEvent[]): void;
  /** The fences of the runs that are not aborted, by task. */
  fences(): ReadonlyMap<string, number>;
  /** Aborts the runs for which `holds` returns false. */
  abortUnlessHeld(
    fences: ReadonlyMap<string, number>,
    holds: (taskId: string, fence: number) => boolean,
  ): void;
  /** The task's run has lost its task, or the task was stopped. */
  abort(taskId: string, why?: typeof stopped): void;
  abortAll(why: string): void;
  /** Aborts the runs that have not begun a call of a model. The others end before their next call. */
  drain(): void;
  /** True while the task has a run that is not aborted. */
  isActive(taskId: string): boolean;
  fence(taskId: string): number | undefined;
  /** Resolves when all current runs have ended. */
  ended(): Promise<void>;
}

export interface ActiveRunsParts extends RunParts {
  /** Begins the span of each run. */
  readonly tracing?: Tracing;
}

/** @param onEnd called with the task's id after a run has ended. */
export function activeRuns(parts: ActiveRunsParts, onEnd: (taskId: string) => void): ActiveRuns {
  const { store, clock, log, tracing = untraced } = parts;
  const runs = new Map<string, Run>();
  const draining = new AbortController();
  const activeOnly = () => [...runs].filter(([, { abort }]) => !abort.signal.aborted);

  /**
   * Logs the failure. When the database was unreachable or full, the task is not at fault: its claim does not
   * count.
   */
  async function handleFailure(task: Task, cause: unknown): Promise<void> {
    log("error", "a run failed", { taskId: task.id, cause });
    if (!(cause instanceof Failure && cause.reason === "unavailable")) return;
    const warn = (thrown: unknown) =>
      log("warn", "a failed run was not released", { taskId: task.id, cause: thrown });
    await store.change((tx) => releaseClaim(tx, [task], clock.now())).catch(warn);
  }

  return {
    size: () => runs.size,
    has: (taskId) => runs.has(taskId),
    ids: () => [...runs.keys()],
    countAborted: () => runs.size - activeOnly().length,
    fence: (taskId) => runs.get(taskId)?.fence,
    start(task, events) {
      const abort = new AbortController();
      const calls = modelCalls(draining.signal);
      const span = tracing.begin(runSpan(task), storedParent(task.traceparent));
      const ended = endAfter(span, () => runTask(task, abort.signal, parts, calls, events))
        .catch((cause: unknown) => handleFailure(task, cause))
        .then(() => {
          runs.delete(task.id);
          // Notify what is left of the agent that the run is over. A string as the reason avoids creating an
          // error.
          abort.abort("over");
          onEnd(task.id);
        });
      runs.set(task.id, { fence: task.fence, abort, calls, ended });
    },
    fences: () => new Map(activeOnly().map(([taskId, { fence }]) => [taskId, fence])),
    abortUnlessHeld(fences, holds) {
      for (const [taskId, fence] of fences)
        if (runs.get(taskId)?.fence === fence && !holds(taskId, fence)) runs.get(taskId)?.abort.abort();
    },
    abort: (taskId, why) => runs.get(taskId)?.abort.abort(why),
    abortAll(why) {
      const active = activeOnly();
      if (active.length > 0) log("info", "runs are given up", { runs: active.length, why });
      for (const [, { abort }] of active) abort.abort();
    },
    drain() {
      draining.abort();
      for (const [, { abort, calls }] of activeOnly()) if (!calls.hasBegun()) abort.abort();
      const calling = activeOnly().length;
      if (calling > 0) log("info", "runs finish their calls of a model", { runs: calling });
    },
    isActive: (taskId) => runs.get(taskId)?.abort.signal.aborted === false,
    ended: async () => void (await Promise.all([...runs.values()].map(({ ended }) => ended))),
  };
}
