import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { Store } from "../../core/store.ts";
import { attemptOf, type TextDelta, textBytesMax } from "../../core/tasks/live-text.ts";
import type { LiveTexts } from "../../core/tasks/live-texts.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { RemoteWorker, RunRef, SentText, ShownText } from "../../core/workers/remote-run.ts";
import { workerLeaseMs } from "../../core/workers/worker-run.ts";
import { lostRun, renewLease, requireHeldTask } from "./held-run.ts";

export interface WriteTextParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly texts: Pick<LiveTexts, "isWatched" | "forward">;
}

/** Parts of texts that a run may send in a second to this process. */
const partsPerSecond = 20;
/** A renewal is a write, so parts renew the lease less often than they arrive. */
const renewEveryMs = workerLeaseMs / 3;

/** The recent calls of one run. Times are monotonic milliseconds. */
interface Pace {
  second: number;
  calls: number;
  renewedAt: number;
}

/**
 * Creates the function that shows parts of the texts of workers' runs. It stores nothing and keeps no text.
 *
 * The function throws Failure `rate_limited` for more than 20 parts a second, and those of `requireHeldTask`.
 */
export function textForwarder(
  parts: WriteTextParts,
): (worker: RemoteWorker, run: RunRef, sent: SentText) => Promise<ShownText> {
  const { store, clock, texts } = parts;
  const paceOf = createPaces(clock);

  /** Returns the next offset. */
  async function forward(task: Task, sent: SentText): Promise<number> {
    const { key, offset, text } = sent;
    const end = offset + text.length;
    // An empty first part only asks whether the task has a watcher.
    if (end > textBytesMax || end === 0) return end;
    const isWritten =
      offset === 0 &&
      key !== "" &&
      (await store.workerEvents.find(task.id, task.consumedSeq, [key])).length > 0;
    return isWritten ? end : texts.forward(deltaOf(task, sent));
  }

  return async (worker, run, sent) => {
    const task = await requireHeldTask(store, worker, run);
    const pace = paceOf(`${task.id} ${task.fence}`);
    if (pace.calls > partsPerSecond)
      throw new Failure("rate_limited", `a run sends at most ${partsPerSecond} parts of its texts a second`, {
        retryAfter: 1,
      });
    if (clock.monotonic() - pace.renewedAt >= renewEveryMs) {
      pace.renewedAt = clock.monotonic();
      const key = { taskId: task.id, fence: task.fence, workerId: worker.credential.id };
      if (!(await store.change(renewLease(clock, key)))) throw lostRun();
    }
    const isWatched = texts.isWatched(task.id);
    return { isWatched, nextOffset: isWatched ? await forward(task, sent) : sent.offset + sent.text.length };
  };
}

/** Returns a function that counts a call of a run. A run is forgotten some time after its last call. */
function createPaces(clock: Pick<Clock, "monotonic">): (run: string) => Pace {
  const paces = new Map<string, Pace>();
  let sweptAt = 0;

  function forgetIdle(now: number): void {
    if (now - sweptAt < workerLeaseMs) return;
    sweptAt = now;
    for (const [run, { second }] of paces) if (now - second * 1000 > workerLeaseMs) paces.delete(run);
  }

  return (run) => {
    const now = clock.monotonic();
    forgetIdle(now);
    const second = Math.floor(now / 1000);
    const pace = paces.get(run) ?? { second, calls: 0, renewedAt: Number.NEGATIVE_INFINITY };
    paces.set(run, pace);
    if (pace.second !== second) [pace.second, pace.calls] = [second, 0];
    pace.calls += 1;
    return pace;
  };
}

function deltaOf({ id: taskId, fence, consumedSeq, lastSeq }: Task, sent: SentText): TextDelta {
  const { type, attempt, offset, text } = sent;
  return {
    taskId,
    type,
    afterSeq: lastSeq,
    offset,
    text,
    attempt: attemptOf(fence, attempt),
    key: messageKey(consumedSeq, sent.key),
  };
}

/** The same when another run writes the event again. A worker's own key is not shown to users. */
const messageKey = (turn: number, key: string): string =>
  `w${turn}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;
