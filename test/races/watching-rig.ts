import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { openStore } from "../../src/store/open.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type Watcher, type WatchQuery, type WatchWire, watcher } from "../support/watcher.ts";

/**
 * Two services on one database: the stores of two processes on PostgreSQL, of one process on SQLite, which
 * has only one.
 */
export interface WatchingRig {
  readonly ann: Person;
  readonly store: Store;
  create(): Promise<string>;
  /** Writes in one transaction through the first process; the other services poll within the next second. */
  write(id: string, events: readonly NewEvent[], status?: TaskStatus): Promise<void>;
  remove(id: string): Promise<void>;
  /** Watches through one of the services. */
  watch(wire: WatchWire, query: WatchQuery, through?: number): Watcher;
}

/** Interval in which events of other processes are polled. */
const lookMs = 1_000;

/** @returns the rig of a suite, open from its first test. */
export function watchingRig(kind: DatabaseKind): WatchingRig {
  const clock = stillClock();
  const watchers = new Set<Watcher>();
  let open: { db: TestStore; other: Store; services: readonly [Service, Service]; ann: Person } | undefined;
  beforeAll(async () => {
    const db = await openTestStore(kind);
    const other =
      kind === "sqlite"
        ? db.store
        : await openStore({ databaseUrl: db.url, clock: systemClock, random: systemRandom });
    const serve = (store: Store) =>
      openService({ over: { store, url: db.url }, clock, idle: true, env: { WATCH_LIMIT: "1000" } });
    const services = [await serve(db.store), await serve(other)] as const;
    open = { db, other, services, ann: await services[0].person() };
  });
  afterEach(async () => {
    for (const { close } of watchers) close();
    await Promise.all([...watchers].map(({ end }) => end));
    watchers.clear();
  });
  afterAll(async () => {
    for (const service of open?.services ?? []) await service[Symbol.asyncDispose]();
    if (open && open.other !== open.db.store) await open.other.close();
    await open?.db[Symbol.asyncDispose]();
  });
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  return {
    get ann() {
      return rig().ann;
    },
    get store() {
      return rig().db.store;
    },
    async create() {
      const { body } = await rig().ann.v2("task.create", { message: { content: "Hello" } });
      if (!body.ok) throw new Error(JSON.stringify(body));
      return body["task_id"];
    },
    async write(id, events, status) {
      const set = status ? { set: { status } } : {};
      await rig().db.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), events, ...set }));
      await turn();
      await clock.advance(lookMs);
    },
    async remove(id) {
      await rig().db.store.change((tx) =>
        tx.tasks.advance(id, { now: clock.now(), set: { status: "stopped" } }),
      );
      const { body } = await rig().ann.v2("task.delete", { task_id: id });
      if (!body.ok) throw new Error(JSON.stringify(body));
      await clock.advance(lookMs);
    },
    watch(wire, query, through = 0) {
      const { services, ann } = rig();
      const watching = watcher((services[through % 2] ?? services[0]).url, ann, wire, query);
      watchers.add(watching);
      return watching;
    },
  };
}
