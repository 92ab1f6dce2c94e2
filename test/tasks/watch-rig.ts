import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { type Calling, openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { type Watcher, type WatchQuery, type WatchWire, watcher } from "../support/watcher.ts";

/** A platform on which nothing happens and no time passes but by the test. */
export interface WatchRig {
  readonly db: TestStore;
  readonly service: Service;
  readonly clock: StillClock;
  readonly ann: Person;
  /** A running task with two events. */
  create(who?: Person): Promise<string>;
  /** Adds so many events in one transaction. */
  add(id: string, count?: number): Promise<void>;
  /** Ends the turn: `stopped`, and what comes behind it in the same transaction. */
  settle(id: string, status?: TaskStatus): Promise<void>;
  remove(id: string, who?: Person): Promise<void>;
  /** Begins to watch; whoever still watches after the test goes away. */
  watch(wire: WatchWire, query: WatchQuery, who?: Calling): Watcher;
  /** How often the database was asked. */
  statements(): number;
  /** Resolves once the database was asked so often more. */
  asked(count: number): Promise<void>;
  /** Resolves once the process has done all it can do without time: SQLite only. */
  quiet(): Promise<void>;
}

/** An event of the agent's, verbose. */
export const step = (content = "…"): NewEvent => ({ type: "explanation", payload: { content } });

/** Opens a platform before the tests of a suite, and closes it after them. */
export function watchRig(database: DatabaseKind = "sqlite", env: Readonly<Record<string, string>> = {}): WatchRig {
  const clock = stillClock();
  let statements = 0;
  let open: { db: TestStore; service: Service; ann: Person } | undefined;
  const watchers = new Set<Watcher>();
  beforeAll(async () => {
    const db = await openTestStore(database, { clock, onStatement: () => void statements++ });
    const service = await openService({ over: db, env, clock, idle: true });
    open = { db, service, ann: await service.person() };
  });
  afterEach(async () => {
    for (const { close } of watchers) close();
    await Promise.all([...watchers].map(({ end }) => end));
    watchers.clear();
  });
  afterAll(async () => {
    await open?.service[Symbol.asyncDispose]();
    await open?.db[Symbol.asyncDispose]();
  });
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  const advance = (id: string, events: readonly NewEvent[], status?: TaskStatus) =>
    rig().service.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), events, ...(status ? { set: { status } } : {}) }));

  return {
    get db() {
      return rig().db;
    },
    get service() {
      return rig().service;
    },
    clock,
    get ann() {
      return rig().ann;
    },
    async create(who = rig().ann) {
      const { body } = await who.v2("task.create", { message: { content: "Hello" } });
      if (!body.ok) throw new Error(JSON.stringify(body));
      return body["task_id"];
    },
    async add(id, count = 1) {
      await advance(
        id,
        Array.from({ length: count }, () => step()),
      );
    },
    async settle(id, status = "stopped") {
      const result: NewEvent = { type: "structured_output_result", payload: { success: true, value: {} } };
      await advance(id, [{ type: "status_update", payload: { agentStatus: status, brief: "Settled" } }, result], status);
    },
    async remove(id, who = rig().ann) {
      await advance(id, [], "stopped");
      const { body } = await who.v2("task.delete", { task_id: id });
      if (!body.ok) throw new Error(JSON.stringify(body));
    },
    watch(wire, query, who: Calling = rig().ann) {
      const watching = watcher(rig().service.url, who, wire, query);
      watchers.add(watching);
      return watching;
    },
    statements: () => statements,
    asked(count) {
      const enough = statements + count;
      return soon(() => statements >= enough);
    },
    quiet: () => quiet(() => statements),
  };
}

/** Resolves once no statement came for 50 turns of the event loop: what waits then waits for time, or for another process. */
export async function quiet(statements: () => number): Promise<void> {
  for (let before = -1; before !== statements(); ) {
    before = statements();
    for (let turns = 0; turns < 50; turns += 1) await turn();
  }
}

/** Resolves once something holds; it is looked at in every turn of the event loop. */
export async function soon(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await turn();
}

/** 1, 2, 3 … up to a number, from another on. */
export const seqs = (to: number, from = 1): number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

export const seqsOf = ({ told }: Watcher): number[] => told.map(({ seq }) => seq);
