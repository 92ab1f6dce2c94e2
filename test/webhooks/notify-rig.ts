import { afterAll, beforeAll } from "vitest";
import type { Task, TaskStatus } from "../../src/core/tasks/task.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { type Calling, openService, type Person, type Service } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { eventsFor, type OutboxEvent, putWebhook } from "../support/webhooks.ts";

/** A platform, a user with tasks, and the user's webhook that subscribes to every event. */
export interface NotifyRig {
  readonly db: TestStore;
  readonly service: Service;
  readonly ann: Person;
  /** Ann's webhook. */
  readonly webhookId: string;
  /** Creates a task, Ann's by default, and returns its id. */
  create(content: string, more?: object, who?: Calling): Promise<string>;
  /** Calls an operation on a task. @throws Error unless it succeeds. */
  call(operation: string, taskId: string, body?: object, who?: Calling): Promise<void>;
  reach(taskId: string, status: TaskStatus): Promise<Task>;
  /** The events of a task for a webhook, Ann's by default. */
  notified(taskId: string, webhookId?: string): Promise<readonly OutboxEvent[]>;
}

/** @returns the rig of a suite, open from its first test. */
export function notifyRig(kind: DatabaseKind): NotifyRig {
  let open: { db: TestStore; service: Service; ann: Person; webhookId: string } | undefined;
  beforeAll(async () => {
    const db = await openTestStore(kind);
    const service = await openService({ over: db });
    const ann = await service.person();
    open = {
      db,
      service,
      ann,
      webhookId: await putWebhook(db.store, { ...ann, eventTypes: webhookEventTypes }),
    };
  });
  afterAll(async () => {
    await open?.service[Symbol.asyncDispose]();
    await open?.db[Symbol.asyncDispose]();
  });
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  async function v2(operation: string, body: object, who: Calling = rig().ann) {
    const reply = await who.v2(operation, body);
    if (!reply.body.ok) throw new Error(JSON.stringify(reply.body));
    return reply.body;
  }
  return {
    get db() {
      return rig().db;
    },
    get service() {
      return rig().service;
    },
    get ann() {
      return rig().ann;
    },
    get webhookId() {
      return rig().webhookId;
    },
    create: async (content, more = {}, who) =>
      String((await v2("task.create", { message: { content }, ...more }, who))["task_id"]),
    call: async (operation, taskId, body = {}, who) =>
      void (await v2(operation, { task_id: taskId, ...body }, who)),
    reach: (taskId, status) => untilStatus(rig().db.store, taskId, status),
    notified: async (taskId, webhookId = rig().webhookId) =>
      (await eventsFor(rig().db, webhookId)).filter((event) => event.taskId === taskId),
  };
}
