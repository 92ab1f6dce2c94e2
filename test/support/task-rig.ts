import { afterAll, beforeAll, expect } from "vitest";
import type { Task, TaskStatus } from "../../src/core/tasks/task.ts";
import { openService, type Person, type Service, type ServiceOptions } from "./service.ts";
import { until, untilStatus } from "./until.ts";
import type { V2Body } from "./wires.ts";

/** One platform for all tests of a suite, and a user with tasks there. */
export interface TaskRig {
  readonly service: Service;
  /** Owner of a team. */
  readonly ann: Person;
  /** Creates a task, by default ann's, and returns its id. */
  create(content?: unknown, more?: object, who?: Person): Promise<string>;
  /** Creates a task and waits for its end. */
  runToEnd(content?: unknown, more?: object, who?: Person): Promise<string>;
  send(id: string, content: unknown, more?: object, who?: Person): Promise<void>;
  reach(id: string, status: TaskStatus): Promise<Task>;
  /** The database row. */
  row(id: string): Promise<Task>;
  /** All events of a task in order, including verbose ones, in v2's form. */
  events(id: string, query?: object): Promise<V2Body[]>;
  /** Sets an idle task to a status that no operation can reach so far. */
  force(id: string, status: TaskStatus): Promise<void>;
}

/** Opens a platform before the tests of a suite, and closes it after them */
export function taskRig(options: ServiceOptions = {}): TaskRig {
  let open: { service: Service; ann: Person } | undefined;
  beforeAll(async () => {
    const service = await openService(options);
    open = { service, ann: await service.person() };
  });
  afterAll(async () => open?.service[Symbol.asyncDispose]());
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };

  async function create(
    content: unknown = "Say hello",
    more: object = {},
    who: Person = rig().ann,
  ): Promise<string> {
    const { body } = await who.v2("task.create", { message: { content }, ...more });
    if (!body.ok) throw new Error(JSON.stringify(body));
    return String(body["task_id"]);
  }

  return {
    get service() {
      return rig().service;
    },
    get ann() {
      return rig().ann;
    },
    create,
    async runToEnd(content, more, who) {
      const id = await create(content, more, who);
      await untilStatus(rig().service.store, id, "stopped");
      return id;
    },
    async send(id, content, more = {}, who = rig().ann) {
      const { body } = await who.v2("task.sendMessage", { task_id: id, message: { content }, ...more });
      if (!body.ok) throw new Error(JSON.stringify(body));
    },
    reach: (id, status) => untilStatus(rig().service.store, id, status),
    row: (id) => until(rig().service.store, id, () => true),
    async events(id, query = {}) {
      const { body } = await rig().ann.v2("task.listMessages", {
        task_id: id,
        order: "asc",
        verbose: true,
        limit: 200,
        ...query,
      });
      return body["messages"];
    },
    async force(id, status) {
      const { store } = rig().service;
      const now = Date.now();
      await store.change((tx) =>
        tx.tasks.advance(id, {
          now,
          set: { status },
          events: [{ type: "status_update", payload: { agentStatus: status, brief: "Forced" } }],
        }),
      );
    },
  };
}

/** A v2 reply that refuses input and names the fault. */
export const invalid = (named: string) => ({
  status: 400,
  body: { ok: false, error: { code: "invalid_argument", message: expect.stringContaining(named) } },
});
