import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll } from "vitest";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import type { TaskChanges } from "../../src/core/tasks/task.ts";
import type { Visibility } from "../../src/core/visibility.ts";
import { SharedTaskService } from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { clientOf, type RpcWire } from "../support/wires.ts";

export type Headers = Readonly<Record<string, string>>;

/** A platform without background work, whose clock only the test moves. */
export interface SharedRig {
  readonly db: TestStore;
  readonly service: Service;
  readonly clock: StillClock;
  /** The owner of a team. */
  readonly ann: Person;
  /**
   * A task of a person, by default of Ann, with this visibility and cap. Its only event is the message
   * "Hello".
   */
  share(
    visibility: Visibility,
    options?: { readonly cap?: Visibility; readonly who?: Person },
  ): Promise<string>;
  /** Adds events and changes the task, as a run or the team's key does. */
  advance(id: string, events: readonly NewEvent[], set?: TaskChanges): Promise<void>;
  /** The number of database statements so far. */
  statements(): number;
  /** A client with these headers. */
  visitor(headers?: Headers, wire?: RpcWire): ReturnType<typeof visitorAt>;
}

const visitorAt = (url: string, headers: Headers, wire: RpcWire) =>
  clientOf(SharedTaskService, wire, url, headers);

/** Opens a platform before the tests of a suite, and closes it after them. */
export function sharedRig(database: DatabaseKind = "sqlite", env: Headers = {}): SharedRig {
  const clock = stillClock();
  let statements = 0;
  let open: { db: TestStore; service: Service; ann: Person } | undefined;
  beforeAll(async () => {
    const db = await openTestStore(database, { clock, onStatement: () => void statements++ });
    const service = await openService({ over: db, env, clock, idle: true });
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

  const advance: SharedRig["advance"] = async (id, events, set = {}) => {
    await rig().service.store.change((tx) => tx.tasks.advance(id, { now: clock.now(), events, set }));
  };

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
    async share(visibility, { cap, who = rig().ann } = {}) {
      const { body } = await who.v2("task.create", {
        message: { content: "Hello" },
        share_visibility: visibility,
        title: "Shared",
      });
      if (!body.ok) throw new Error(JSON.stringify(body));
      if (cap !== undefined) await advance(body["task_id"], [], { maxVisibility: cap });
      return body["task_id"];
    },
    advance,
    statements: () => statements,
    visitor: (headers = {}, wire = "connect-json") => visitorAt(rig().service.url, headers, wire),
  };
}

/** `ok`, or the code and text of the refusal. */
export async function outcomeOf(call: Promise<unknown> | AsyncIterable<unknown>): Promise<string> {
  try {
    if (Symbol.asyncIterator in call) await Array.fromAsync(call);
    else await call;
    return "ok";
  } catch (thrown) {
    return ConnectError.from(thrown).message;
  }
}

/** The only refusal of a task that the visitor may not see. */
export const notFoundText = "[not_found] task not found";
