import { afterAll, beforeAll } from "vitest";
import type { Store } from "../../src/core/store.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { type DatabaseKind, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { until } from "../support/until.ts";
import type { V2Reply } from "../support/wires.ts";

/** The number of simultaneous calls. */
export const callCount = sample(50, 15);

/** A platform with one user who calls it over real sockets. */
export interface RaceRig {
  readonly db: TestStore;
  readonly store: Store;
  readonly person: Person;
  /** Creates a task and returns its id. */
  create(content: string): Promise<string>;
  /** Calls an operation on a task. */
  call(
    operation: string,
    id: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<V2Reply>;
  send(id: string, content: string): Promise<V2Reply>;
  /** The task once it has no run and nothing waits. */
  waitUntilSettled(id: string): Promise<Task>;
}

/** @returns the rig of a suite, open from its first test; on PostgreSQL three nodes get calls in rotation. */
export function raceRig(kind: DatabaseKind, env: Readonly<Record<string, string>> = {}): RaceRig {
  let open: { db: TestStore; service: Service; ann: Person } | undefined;
  beforeAll(async () => {
    const db = await openTestStore(kind);
    const service = await openService({ over: db, nodes: nodesOf(kind), env });
    open = { db, service, ann: await service.person() };
  });
  afterAll(async () => {
    await open?.service[Symbol.asyncDispose]();
    await open?.db[Symbol.asyncDispose]();
  });
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  const call: RaceRig["call"] = (operation, id, body = {}, headers = {}) =>
    rig().ann.v2(operation, { task_id: id, ...body }, { headers });
  return {
    get db() {
      return rig().db;
    },
    get store() {
      return rig().db.store;
    },
    get person() {
      return rig().ann;
    },
    async create(content) {
      const { body } = await rig().ann.v2("task.create", { message: { content } });
      if (!body.ok) throw new Error(JSON.stringify(body));
      return String(body["task_id"]);
    },
    call,
    send: (id, content) => call("task.sendMessage", id, { message: { content } }),
    waitUntilSettled: (id) => until(rig().db.store, id, (task) => task.status !== "running"),
  };
}

/** Does the same work `many` times at once. */
export const atOnce = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: callCount }, (_, i) => work(i)));
