import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { TaskStatus } from "../../src/core/tasks/task.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { type Calling, openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { type Watcher, type WatchQuery, type WatchWire, watcher } from "../support/watcher.ts";

/** A platform without background work, whose clock only the test moves. */
export interface WatchRig {
  readonly db: TestStore;
  readonly service: Service;
  readonly clock: StillClock;
  readonly ann: Person;
  /** A running task with two events. */
  create(who?: Person): Promise<string>;
  /** Adds this many events in one transaction. */
  add(id: string, count?: number): Promise<void>;
  /** Ends the turn: `stopped`, and the following event in the same transaction. */
  settle(id: string, status?: TaskStatus): Promise<void>;
  remove(id: string, who?: Person): Promise<void>;
  /** Begins to watch; watches that are still open after the test are closed. */
  watch(wire: WatchWire, query: WatchQuery, who?: Calling): Watcher;
  /** The number of database statements so far. */
  statements(): number;
  /** Resolves after this many more database statements. */
  untilStatements(count: number): Promise<void>;
  /** Resolves once the process has done everything that needs no time: SQLite only. */
  untilQuiet(): Promise<void>;
}

/** A verbose event of the agent. */
export const step = (content = "…"): NewEvent => ({ type: "explanation", payload: { content } });

/** Opens a platform before the tests of a suite, and closes it after them. */
export function watchRig(
  database: DatabaseKind = "sqlite",
  env: Readonly<Record<string, string>> = {},
): WatchRig {
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
    rig().service.store.change((tx) =>
      tx.tasks.advance(id, { now: clock.now(), events, ...(status ? { set: { status } } : {}) }),
    );

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
      await advance(
        id,
        [{ type: "status_update", payload: { agentStatus: status, brief: "Settled" } }, result],
        status,
      );
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
    untilStatements(count) {
      const enough = statements + count;
      return untilTrue(() => statements >= enough);
    },
    untilQuiet: () => untilQuiet(() => statements),
  };
}

/**
 * Resolves after 50 turns of the event loop without a statement: everything left waits for time, or for
 * another process.
 */
export async function untilQuiet(statements: () => number): Promise<void> {
  for (let before = -1; before !== statements(); ) {
    before = statements();
    for (let turns = 0; turns < 50; turns += 1) await turn();
  }
}

/** Resolves once a condition is true; it is checked in every turn of the event loop. */
export async function untilTrue(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await turn();
}

/** The numbers 1, 2, 3 … up to a number, from another on. */
export const numbersUpTo = (to: number, from = 1): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

export const seqsOf = ({ events: told }: Watcher): number[] => told.map(({ seq }) => seq);
