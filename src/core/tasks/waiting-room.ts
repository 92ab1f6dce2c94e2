import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { OpenCall } from "../open-call.ts";
import type { Feed, TaskNews } from "../store.ts";

/** Where held calls and watches wait for news of a task. */
export interface WaitingRoom {
  /** Hears of all tasks from now on, for a call that looks at one before it enters: what comes meanwhile is not missed. */
  approach(): Approach;
}

/** One call before the room. It ends by one of these; after that the other does nothing. */
export interface Approach {
  /**
   * Takes one of the account's places until the visit is left or the caller is gone.
   *
   * @param seen the task as the call has found it: it is not woken for what that shows.
   * @param until monotonic milliseconds at which the visit wakes in any case.
   * @throws Failure `exhausted` when all of the account's places are taken.
   */
  enter(call: OpenCall, seen: Seen, until?: number): Visit;
  turnBack(): void;
}

/** So much of a task as those who wait look at: its events, and whether it runs. */
export type Seen = { readonly id: TaskNews["taskId"] } & Pick<TaskNews, "lastSeq" | "status">;

/** One call in the room. */
export interface Visit {
  /**
   * Resolves when there may be news: at once for what came since the last time, or the first time
   * since the approach. So it does every so often, when the caller is gone, and when the process drains.
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

/** Those of one account: they are woken together, so that they can share what they look at. */
interface Guests {
  readonly bells: Set<Bell>;
  /** Aborted when the last one leaves. */
  readonly empty: AbortController;
}

/** A room with one listener to the store's news for all visits: it wakes those of the task. */
export function waitingRoom(feed: Feed, clock: Clock, { limit, lookMs, draining }: RoomRules): WaitingRoom {
  const watchers = new Map<string, Set<Bell>>();
  const guests = new Map<string, Guests>();
  const approaching = new Set<Heard>();
  function tell(news: TaskNews): void {
    for (const heard of approaching) heard.news.push(news);
    for (const { tell } of watchers.get(news.taskId) ?? []) tell(news);
  }
  function wakeEverybody(): void {
    for (const heard of approaching) heard.lost = true;
    for (const bells of watchers.values()) ringAll(bells);
  }
  const forget = [feed.onTask(tell), feed.onLost(wakeEverybody)];
  draining.addEventListener("abort", () => {
    for (const each of forget) each();
    wakeEverybody();
  });

  async function ringOften({ bells, empty }: Guests): Promise<void> {
    for (;;) {
      await clock.sleep(lookMs, empty.signal);
      ringAll(bells);
    }
  }

  /** A timer may wake a little early. */
  async function ringAt(until: number, { ring }: Bell, left: AbortSignal): Promise<void> {
    while (clock.monotonic() < until) await clock.sleep(until - clock.monotonic(), left);
    ring();
  }

  function admit(accountId: string): Guests {
    const admitted = { bells: new Set<Bell>(), empty: new AbortController() };
    guests.set(accountId, admitted);
    // Rejected only because all have left.
    ringOften(admitted).catch(() => undefined);
    return admitted;
  }

  /** @returns what gives the place back. */
  function takePlace(accountId: string, bell: Bell): () => void {
    const { bells, empty } = guests.get(accountId) ?? admit(accountId);
    if (bells.size >= limit) throw new Failure("exhausted", `${limit} held calls and watches are open already`);
    bells.add(bell);
    return () => {
      bells.delete(bell);
      if (bells.size > 0) return;
      guests.delete(accountId);
      empty.abort();
    };
  }

  /** @returns what takes it down. */
  function hang(taskId: string, bell: Bell): () => void {
    const bells = watchers.get(taskId) ?? new Set();
    watchers.set(taskId, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0) watchers.delete(taskId);
    };
  }

  function enter({ caller, gone }: OpenCall, seen: Seen, heard: Heard, until?: number): Visit {
    const bell = newBell(seen);
    const left = new AbortController();
    const ends = [takePlace(caller.accountId, bell), hang(seen.id, bell)];
    const leave = () => {
      if (!left.signal.aborted) for (const end of ends) end();
      left.abort();
    };
    const go = () => {
      bell.ring();
      leave();
    };
    for (const news of heard.news) if (news.taskId === seen.id) bell.tell(news);
    if (heard.lost || draining.aborted) bell.ring();
    // Rejected only because it was left.
    if (until !== undefined) ringAt(until, bell, left.signal).catch(() => undefined);
    gone.addEventListener("abort", go, { signal: left.signal });
    if (gone.aborted) go();
    return { wake: bell.heard, leave };
  }

  return {
    approach() {
      const heard: Heard = { news: [], lost: false };
      approaching.add(heard);
      const turnBack = () => void approaching.delete(heard);
      return {
        turnBack,
        enter(call, seen, until) {
          turnBack();
          return enter(call, seen, heard, until);
        },
      };
    },
  };
}

/** What was told while a call approached. */
interface Heard {
  readonly news: TaskNews[];
  lost: boolean;
}

interface Bell {
  ring(): void;
  /** Rings, unless that is known: a claim, say, is nothing to whoever waits for events. */
  tell(news: Pick<TaskNews, "lastSeq" | "status">): void;
  /** Resolves at the next ring, or at once when it has rung since the last time. */
  heard(): Promise<void>;
}

function newBell(seen: Omit<Seen, "id">): Bell {
  let known = seen;
  let rung = false;
  let hear = (): void => undefined;
  const unring = (): void => {
    rung = false;
  };
  function ring(): void {
    rung = true;
    hear();
  }
  return {
    ring,
    tell(news) {
      if (news.lastSeq <= known.lastSeq && news.status === known.status) return;
      known = news;
      ring();
    },
    heard() {
      const heard = rung ? Promise.resolve() : new Promise<void>((resolve) => (hear = resolve));
      return heard.then(unring);
    },
  };
}

function ringAll(bells: Iterable<Bell>): void {
  for (const { ring } of bells) ring();
}
