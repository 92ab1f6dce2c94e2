import { limitConcurrency } from "../async/limit.ts";
import { poll } from "../async/poll.ts";
import { Failure } from "../core/failure.ts";
import type { Log } from "../core/log.ts";
import { handleDue, type RunParts } from "../core/use-cases/run-schedules.ts";

/** A task is created at most this long after its due time, and the time of the change. */
const lookMs = 1_000;
const batchMax = 100;
/** Changes of this process at a time: they share a commit. */
const changesMax = 8;

export interface SchedulesWork extends Omit<RunParts, "clock"> {
  readonly clock: RunParts["clock"] & Parameters<typeof poll>[0];
  readonly log: Log;
}

/**
 * Creates the tasks of due schedules in this process; the returned function stops it. Several processes may
 * do so at the same time.
 */
export function startSchedules(parts: SchedulesWork): () => Promise<void> {
  const { store, clock, log } = parts;
  const stopping = new AbortController();
  const limited = limitConcurrency(changesMax);

  /** Returns false when the time stays due. */
  async function handle(id: string): Promise<boolean> {
    if (stopping.signal.aborted) return false;
    try {
      await handleDue(parts, id);
      return true;
    } catch (cause) {
      // A full queue is expected: the next look finds the time again.
      if (!(cause instanceof Failure)) log("error", "a schedule was not handled", { scheduleId: id, cause });
      return false;
    }
  }

  const looks = poll(clock, lookMs, stopping.signal, log, async function handleDueSchedules() {
    for (let isFull = true; isFull && !stopping.signal.aborted; ) {
      const due = await store.schedules.due(clock.now(), batchMax);
      const handled = await Promise.all(due.map((id) => limited(() => handle(id))));
      isFull = due.length >= batchMax && !handled.includes(false);
    }
  });
  return async () => {
    stopping.abort();
    await looks;
  };
}
