import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { OpenCall } from "../../core/open-call.ts";
import type { QueueFilter, Task } from "../../core/tasks/task.ts";
import type { Dispatch } from "./dispatch.ts";

interface PollsParts {
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  readonly pollsMax: number;
  /** No poll is held for longer, in milliseconds. */
  readonly pollMs: number;
}

/** Who holds a call open is looked up anew at least so often (contract/decisions.md 17). */
const againMs = 5_000;

/** Holds a poll until there is a task for it. @throws Failure `exhausted` when the credential has too many held already, and that a new call would get. */
export type HoldPoll = (
  call: OpenCall,
  worker: { readonly id: string; readonly filter: QueueFilter },
  waitMs: number,
) => Promise<Task | null>;

export function polls({ dispatch, clock, pollsMax, pollMs }: PollsParts): HoldPoll {
  const open = new Map<string, number>();

  /** Resolves with what a new call would be refused for; rejects when it is over. */
  async function refusal(call: OpenCall, over: AbortSignal): Promise<unknown> {
    for (;;) {
      await clock.sleep(againMs, over);
      try {
        await call.again();
      } catch (thrown) {
        return thrown;
      }
    }
  }

  return async (call, worker, waitMs) => {
    const count = open.get(worker.id) ?? 0;
    if (count >= pollsMax) throw new Failure("exhausted", `${pollsMax} polls are held already`);
    open.set(worker.id, count + 1);
    const over = new AbortController();
    let refused: unknown;
    const checking = refusal(call, over.signal).then(
      (thrown) => {
        refused = thrown;
        over.abort();
      },
      () => undefined,
    );
    try {
      const task = await dispatch.next(worker, Math.min(waitMs, pollMs), AbortSignal.any([call.gone, over.signal]));
      if (task === null && refused !== undefined) throw refused;
      return task;
    } finally {
      over.abort();
      await checking;
      const left = (open.get(worker.id) ?? 1) - 1;
      if (left === 0) open.delete(worker.id);
      else open.set(worker.id, left);
    }
  };
}
