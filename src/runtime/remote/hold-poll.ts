import type { OpenCall } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { QueueFilter } from "../../core/tasks/task-rows.ts";
import type { PollLimits } from "../../core/workers/remote-run.ts";
import type { ClaimedTurn } from "../../core/workers/worker-run.ts";
import type { Dispatch } from "./dispatch.ts";

interface PollsParts {
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  readonly pollsMax: number;
  /** The longest time that a poll is held, in milliseconds. */
  readonly pollMs: number;
}

/** The interval at which the caller of a held call is authenticated again (spec/decisions.md 17). */
const recheckMs = 5_000;

/**
 * Holds a poll until there are tasks for it.
 *
 * @throws Failure `resource_exhausted` when the credential holds too many polls, and any failure that a new
 * call would get.
 */
export type HoldPoll = (
  call: OpenCall,
  worker: { id: string; filter: QueueFilter },
  limits: PollLimits,
) => Promise<readonly ClaimedTurn[]>;

export function createHoldPoll({ dispatch, clock, pollsMax, pollMs }: PollsParts): HoldPoll {
  const open = new Map<string, number>();

  /** Resolves with the failure that a new call would get; rejects when the poll is over. */
  async function refusal(call: OpenCall, stop: AbortSignal): Promise<unknown> {
    for (;;) {
      await clock.sleep(recheckMs, stop);
      try {
        await call.reauthenticate();
      } catch (thrown) {
        return thrown;
      }
    }
  }

  return async (call, worker, { max, waitMs }) => {
    const count = open.get(worker.id) ?? 0;
    if (count >= pollsMax)
      throw new Failure("resource_exhausted", `${pollsMax} polls of this credential are held already`, {
        retryAfter: 1,
      });
    open.set(worker.id, count + 1);
    const stop = new AbortController();
    let failure: unknown;
    const checking = refusal(call, stop.signal).then(
      (thrown) => {
        failure = thrown;
        stop.abort();
      },
      () => undefined,
    );
    try {
      const limits = { max, waitMs: Math.min(waitMs, pollMs) };
      const turns = await dispatch.next(worker, limits, AbortSignal.any([call.gone, stop.signal]));
      if (turns.length === 0 && failure !== undefined) throw failure;
      return turns;
    } finally {
      stop.abort();
      await checking;
      const remaining = (open.get(worker.id) ?? 1) - 1;
      if (remaining === 0) open.delete(worker.id);
      else open.set(worker.id, remaining);
    }
  };
}
