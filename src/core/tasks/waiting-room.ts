import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { OpenCall } from "../open-call.ts";
import type { Feed } from "../store.ts";

/** Where held calls and watches wait for news of a task. */
export interface WaitingRoom {
  /**
   * Takes one of the account's places until the visit is left or the caller is gone.
   *
   * @param until monotonic milliseconds up to which the visit wakes by itself, then too.
   * @throws Failure `exhausted` when all of the account's places are taken.
   */
  enter(call: OpenCall, taskId: string, until?: number): Visit;
}

/** One call in the room. */
export interface Visit {
  /**
   * Resolves when there may be news: at once for what came since the last time, and
   * the first time for what came before. So it does every so often, when the caller is
   * gone, and when the process drains.
   */
  wake(): Promise<void>;
  /** Gives the place back; a second time nothing happens. */
  leave(): void;
}

/** What the room goes by. */
export interface RoomRules {
  /** Places of one account in this process (contract/decisions.md 17a). */
  readonly limit: number;
  /** Every visit wakes at least so often: news from other processes may not come here. */
  readonly lookMs: number;
  /** Aborted when the process drains. */
  readonly draining: AbortSignal;
}

/** A room with one listener to the store's news for all visits: it wakes those of the task. */
export function waitingRoom(feed: Feed, clock: Clock, { limit, lookMs, draining }: RoomRules): WaitingRoom {
  const visits = new Map<string, Set<Bell>>();
  const taken = new Map<string, number>();
  const forget = feed.onTask(({ taskId }) => visits.get(taskId)?.forEach(({ ring }) => void ring()));
  draining.addEventListener("abort", () => {
    forget();
    for (const bells of visits.values()) for (const { ring } of bells) ring();
  });

  /** @returns what gives the place back. */
  function takePlace(accountId: string): () => void {
    const others = taken.get(accountId) ?? 0;
    if (others >= limit) throw new Failure("exhausted", `${limit} held calls and watches are open already`);
    taken.set(accountId, others + 1);
    return () => {
      const left = (taken.get(accountId) ?? 1) - 1;
      if (left > 0) taken.set(accountId, left);
      else taken.delete(accountId);
    };
  }

  /** @returns what takes it down. */
  function hang(taskId: string, bell: Bell): () => void {
    const bells = visits.get(taskId) ?? new Set();
    visits.set(taskId, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0 && visits.get(taskId) === bells) visits.delete(taskId);
    };
  }

  async function ringOften({ ring }: Bell, until: number, left: AbortSignal): Promise<void> {
    while (clock.monotonic() < until) {
      await clock.sleep(Math.min(lookMs, until - clock.monotonic()), left);
      ring();
    }
  }

  return {
    enter({ caller, gone }, taskId, until = Number.POSITIVE_INFINITY) {
      const left = new AbortController();
      const bell = newBell();
      const ends = [takePlace(caller.accountId), hang(taskId, bell)];
      const leave = () => {
        if (!left.signal.aborted) for (const end of ends) end();
        left.abort();
      };
      const go = () => {
        bell.ring();
        leave();
      };
      // Rejected only because it was left.
      ringOften(bell, until, left.signal).catch(() => undefined);
      gone.addEventListener("abort", go, { signal: left.signal });
      if (gone.aborted) go();
      return { wake: bell.heard, leave };
    },
  };
}

interface Bell {
  ring(): void;
  /** Resolves at the next ring, or at once when it has rung since the last time. */
  heard(): Promise<void>;
}

/** A bell that has rung already: what happened before it hung is to be looked for. */
function newBell(): Bell {
  let rung = true;
  let hear = (): void => undefined;
  return {
    ring() {
      rung = true;
      hear();
    },
    async heard() {
      const { promise, resolve } = Promise.withResolvers<void>();
      hear = resolve;
      if (!rung) await promise;
      rung = false;
    },
  };
}
