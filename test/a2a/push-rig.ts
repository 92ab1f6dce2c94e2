import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { unobserved } from "../../src/core/observe.ts";
import { type PushConfig, sealPushSecrets } from "../../src/core/push/push-config.ts";
import type { Store } from "../../src/core/store.ts";
import type { NewEvent, TaskEvent } from "../../src/core/tasks/event.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { TaskEventSchema } from "../../src/gen/proto/task/v2/task_event_pb.ts";
import { compileBareWriter } from "../../src/http/v2/writer.ts";
import { type PushSender, startPushSender } from "../../src/protocols/a2a/push/sender.ts";
import { eventMessage } from "../../src/rpc/event.ts";
import { openStore } from "../../src/store/open.ts";
import { guardedPost } from "../../src/webhooks/post.ts";
import { agentMessage, ann, putTask } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { type DatabaseKind, openTestStore } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

/** A store, a receiver, a still clock, and senders as in several processes. */
export interface PushRig extends AsyncDisposable {
  readonly store: Store;
  readonly receiver: Receiver;
  readonly clock: StillClock;
  readonly logged: readonly string[];
  /** Another sender on the same database; on PostgreSQL with a separate store. */
  start(): Promise<PushSender>;
  /** A task with as many messages, and a configuration that has sent none. */
  put(
    messages: number,
    members?: Partial<PushConfig>,
    task?: Partial<Task>,
  ): Promise<{ readonly task: Task; readonly config: PushConfig }>;
  say(task: Pick<Task, "id">, ...texts: readonly string[]): Promise<void>;
  end(task: Pick<Task, "id">): Promise<void>;
  row(config: PushConfig): Promise<PushConfig | undefined>;
  /** Waits until the row is so; time passes as given. */
  reach(config: PushConfig, members: object, ms?: number): Promise<void>;
}

const writeEvent = compileBareWriter(TaskEventSchema);
export const progress = (content: string): NewEvent => ({
  type: "assistant_message",
  payload: { content, deliveryKind: "progress" },
});

export async function pushRig(kind: DatabaseKind): Promise<PushRig> {
  const clock = stillClock();
  const database = await openTestStore(kind, { clock });
  const stores: Store[] = [];
  const senders: PushSender[] = [];
  const receiver = await openReceiver();
  const { store } = database;
  const logged: string[] = [];
  const log = (level: string, text: string, fields = {}) =>
    void (level !== "debug" && logged.push(JSON.stringify([level, text, fields])));

  const advance = (id: string, set: object, events: readonly NewEvent[]) =>
    store.change((tx) => tx.tasks.advance(id, { now: clock.now(), set, events }));
  const rig: PushRig = {
    ...{ store, receiver, clock, logged },
    async start() {
      const own =
        kind === "sqlite"
          ? store
          : await openStore({ clock, random: systemRandom, databaseUrl: database.url, log: () => undefined });
      if (own !== store) stores.push(own);
      const sender = startPushSender({
        ...{
          store: own,
          clock,
          random: systemRandom,
          ids: systemIds,
          log,
          observe: unobserved,
          cipher,
          userAgent: "test",
        },
        warnings: {
          again: (_key, { level, text, fields }) => log(level, text, fields),
          over: () => undefined,
        },
        post: guardedPost({ clock, allowed: [{ kind: "loopback" }], resolve: async (host) => [host] }),
        eventOf: (event: TaskEvent) =>
          JSON.parse(
            writeEvent(
              create(
                TaskEventSchema,
                eventMessage(event, () => "https://files.test"),
              ),
            ),
          ),
        metadataOf: async () => ({}),
        taskUrl: (id) => `https://app.test/${id}`,
      });
      senders.push(sender);
      return sender;
    },
    async put(messages, members = {}, of = {}) {
      const texts = Array.from({ length: messages }, (_, index) => progress(String(index + 1)));
      const task = await putTask(store, of, texts);
      const key = { taskId: task.id, clientId: "", configId: "c", ...members };
      const config: PushConfig = {
        ...{
          accountId: ann.accountId,
          spaceId: ann.spaceId,
          url: `${receiver.url}/${task.id}`,
          hasEvents: true,
          state: "active",
        },
        ...{ sentSeq: 0, attempts: 0, nextAt: 0, claim: null, lastError: null, createdAt: 1, apiKeyId: null },
        ...key,
        secrets: sealPushSecrets(cipher, key, { token: "t", scheme: "Bearer", credentials: "c" }),
      };
      await store.change((tx) => tx.pushConfigs.put(config));
      return { task, config };
    },
    say: async ({ id }, ...texts) => void (await advance(id, {}, texts.map(progress))),
    end: async ({ id }) =>
      void (await advance(id, { status: "stopped" }, [
        agentMessage("Done"),
        { type: "status_update", payload: { agentStatus: "stopped", brief: "Done" } },
        { type: "structured_output_result", payload: { success: true, value: { sum: 12 } } },
      ])),
    row: async ({ taskId, clientId, configId }) =>
      (await store.pushConfigs.ofTask(taskId)).find(
        (each) => each.clientId === clientId && each.configId === configId,
      ),
    async reach(config, members, ms = 0) {
      await expect
        .poll(
          async () => {
            await clock.advance(ms);
            return rig.row(config);
          },
          { timeout: hangMs, interval: 5 },
        )
        .toMatchObject(members);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(senders.map((sender) => sender.drain(1000)));
      await receiver[Symbol.asyncDispose]();
      for (const other of stores) await other.close();
      await database[Symbol.asyncDispose]();
    },
  };
  return rig;
}
