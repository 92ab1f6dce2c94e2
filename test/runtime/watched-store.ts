import { setImmediate as turn } from "node:timers/promises";
import type { Store, TaskNews } from "../../src/core/store.ts";
import type { StillClock } from "../support/still-clock.ts";

/** A real store that reports when it is idle, and that can be made to fail. */
export interface WatchedStore {
  readonly store: Store;
  /** The number of calls of a method so far: `tasks.unowned`, `change`. */
  calls(method: string): number;
  /** Runs `hook` before each use of a method; the caller gets its errors and delays. */
  before(method: string, hook: () => Promise<void> | void): void;
  /** Sends a notification of the test to the listeners. */
  notify(news: TaskNews): void;
  /** Notifies the listeners that notifications may be lost. */
  notifyLoss(): void;
  /** Resolves when no call has been in progress for a while. */
  quiet(): Promise<void>;
}

/** The store's modules that runs read outside of changes. */
const moduleNames = [
  "tasks",
  "events",
  "nodes",
  "projects",
  "taskResources",
  "skills",
  "connectors",
  "actions",
  "budgets",
] as const satisfies (keyof Store)[];

type Method = (...args: unknown[]) => unknown;

/** Turns of the event loop without a call in progress that count as quiet. */
const quietTurns = 5;

export function watchedStore(real: Store): WatchedStore {
  const counts = new Map<string, number>();
  const hooks = new Map<string, () => Promise<void> | void>();
  let underWay = 0;

  const watched =
    (name: string, method: Method): Method =>
    async (...args) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      underWay += 1;
      try {
        await hooks.get(name)?.();
        return await method(...args);
      } finally {
        underWay -= 1;
      }
    };

  const aggregate = (moduleName: string, methods: object) =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]: [string, Method]) => [
        name,
        watched(`${moduleName}.${name}`, method),
      ]),
    );

  const reads = Object.fromEntries(
    moduleNames.map((moduleName) => [moduleName, aggregate(moduleName, real[moduleName])]),
  );
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
  // The members are the store's own, each with a counter.
  const store = {
    ...real,
    ...reads,
    feed,
    change: watched("change", real.change as Method),
  } as unknown as Store;
  return {
    store,
    notify(news) {
      for (const listener of listeners) listener(news);
    },
    notifyLoss() {
      for (const listener of losers) listener();
    },
    calls: (method) => counts.get(method) ?? 0,
    before: (method, hook) => void hooks.set(method, hook),
    async quiet() {
      for (let turns = 0; turns < quietTurns; turns = underWay === 0 ? turns + 1 : 0) await turn();
    },
  };
}

/** Small enough that a timer within it fires almost at once. */
const stepMs = 100;

/** Moves a clock step by step, and waits for the stores after each step. */
export async function passTime(
  clock: StillClock,
  ms: number,
  ...stores: readonly WatchedStore[]
): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    for (const { quiet } of stores) await quiet();
    await clock.advance(Math.min(stepMs, left));
  }
  for (const { quiet } of stores) await quiet();
}

/** Moves a clock until a condition holds; returns the elapsed time of the clock. */
export async function passUntil(
  clock: StillClock,
  holds: () => Promise<boolean> | boolean,
  ...stores: readonly WatchedStore[]
): Promise<number> {
  const begun = clock.monotonic();
  while (!(await holds())) {
    if (clock.monotonic() - begun > 120_000)
      throw new Error("the condition did not hold within two minutes of the clock");
    await passTime(clock, stepMs, ...stores);
  }
  return clock.monotonic() - begun;
}
