import { setImmediate as turn } from "node:timers/promises";
import type { Store, TaskNews } from "../../src/core/store.ts";
import type { StillClock } from "../support/still-clock.ts";

/** A real store of which it is known when it has nothing to do, and that can be made to fail. */
export interface WatchedStore {
  readonly store: Store;
  /** How often a method was called so far: `tasks.unowned`, `change`. */
  calls(method: string): number;
  /** Called before each use of a method; what it throws or waits for happens to the caller. */
  before(method: string, hook: () => Promise<void> | void): void;
  /** Tells the listeners news of the test's own. */
  tell(news: TaskNews): void;
  /** Tells the listeners that news may have been missed. */
  lose(): void;
  /** Resolves when nothing has been under way for a while. */
  quiet(): Promise<void>;
}

/** What runs read outside of changes. */
const rooms = [
  "tasks",
  "events",
  "nodes",
  "projects",
  "means",
  "skills",
  "connectors",
  "actions",
  "budgets",
] as const satisfies (keyof Store)[];

type Method = (...asked: unknown[]) => unknown;

/** Turns of the event loop without anything under way that count as quiet. */
const quietTurns = 5;

export function watchedStore(real: Store): WatchedStore {
  const counts = new Map<string, number>();
  const hooks = new Map<string, () => Promise<void> | void>();
  let underWay = 0;

  const watched =
    (name: string, method: Method): Method =>
    async (...asked) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      underWay += 1;
      try {
        await hooks.get(name)?.();
        return await method(...asked);
      } finally {
        underWay -= 1;
      }
    };

  const aggregate = (room: string, methods: object) =>
    Object.fromEntries(Object.entries(methods).map(([name, method]: [string, Method]) => [name, watched(`${room}.${name}`, method)]));

  const reads = Object.fromEntries(rooms.map((room) => [room, aggregate(room, real[room])]));
  const listeners = new Set<(news: TaskNews) => void>();
  const losers = new Set<() => void>();
  const feed: Store["feed"] = {
    ...real.feed,
    onTask(listener) {
      listeners.add(listener);
      const forget = real.feed.onTask(listener);
      return () => void (listeners.delete(listener) && forget());
    },
    onLost(listener) {
      losers.add(listener);
      const forget = real.feed.onLost(listener);
      return () => void (losers.delete(listener) && forget());
    },
  };
  // The members are the store's own, each within a count.
  const store = { ...real, ...reads, feed, change: watched("change", real.change as Method) } as unknown as Store;
  return {
    store,
    tell(news) {
      for (const listener of listeners) listener(news);
    },
    lose() {
      for (const listener of losers) listener();
    },
    calls: (method) => counts.get(method) ?? 0,
    before: (method, hook) => void hooks.set(method, hook),
    async quiet() {
      for (let turns = 0; turns < quietTurns; turns = underWay === 0 ? turns + 1 : 0) await turn();
    },
  };
}

/** Small enough that what wakes within it wakes as good as at once. */
const stepMs = 100;

/** Moves a clock on, step by step, and gives the stores the time that they take after each. */
export async function passTime(clock: StillClock, ms: number, ...stores: readonly WatchedStore[]): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    for (const { quiet } of stores) await quiet();
    await clock.advance(Math.min(stepMs, left));
  }
  for (const { quiet } of stores) await quiet();
}

/** Moves a clock on until something holds; answers how long that took in the clock's time. */
export async function passUntil(
  clock: StillClock,
  holds: () => Promise<boolean> | boolean,
  ...stores: readonly WatchedStore[]
): Promise<number> {
  const begun = clock.monotonic();
  while (!(await holds())) {
    if (clock.monotonic() - begun > 120_000) throw new Error("it did not come to hold within two minutes of the clock");
    await passTime(clock, stepMs, ...stores);
  }
  return clock.monotonic() - begun;
}
