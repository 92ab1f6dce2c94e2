import { setImmediate as turn } from "node:timers/promises";
import type { Dispatcher } from "../../src/async/dispatcher.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { AttemptResult, Delivery } from "../../src/core/webhooks/delivery.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import type { Webhook, WebhookEventType } from "../../src/core/webhooks/webhook.ts";
import type { SwitchedOff } from "../../src/webhooks/record.ts";
import { type SenderParts, startSender } from "../../src/webhooks/sender.ts";
import { ann, putTask, sampleWebhook } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { hangMs } from "../support/patience.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

/** A request that a sender has made, and that a test answers. */
export interface Request {
  readonly webhookId: string;
  readonly eventId: string;
  readonly body: string;
  answer(sent?: Partial<AttemptResult>): void;
}

/** A store, a still clock, and senders whose requests the test answers. */
export interface SenderRig extends AsyncDisposable {
  readonly database: TestStore;
  /** Its store, which counts the calls in progress. */
  readonly store: Store;
  readonly clock: StillClock;
  /** All requests so far, in order. */
  readonly requests: readonly Request[];
  readonly notices: readonly SwitchedOff[];
  readonly logged: readonly string[];
  /** Another sender on the same database, as in another process. */
  start(more?: Partial<SenderParts>): Dispatcher;
  putWebhook(members?: Partial<Webhook>): Promise<Webhook>;
  /** Puts an event of a task with a delivery of it to each of these webhooks. */
  putEvent(
    taskId: string,
    seq: number,
    type: WebhookEventType,
    ...webhooks: readonly Pick<Webhook, "id">[]
  ): Promise<string>;
  /** All deliveries, by event and webhook. */
  deliveries(): Promise<readonly DeliveryRow[]>;
  /** The requests once there are this many. */
  waitForRequests(count: number): Promise<readonly Request[]>;
  /** Waits until all rounds have nothing more to do. */
  quiet(): Promise<void>;
}

/** The members of a row that tests read. */
export interface DeliveryRow
  extends Pick<Delivery, "id" | "webhookId" | "eventId" | "state" | "attempts" | "nextAt"> {}

export const successResult: Partial<AttemptResult> = { status: 200, delivered: true };
export const failureResult: Partial<AttemptResult> = { status: 500, delivered: false };

export async function senderRig(kind: DatabaseKind): Promise<SenderRig> {
  const clock = stillClock();
  const database = await openTestStore(kind, { clock });
  const { store } = database;
  const requests: Request[] = [];
  const notices: SwitchedOff[] = [];
  const logged: string[] = [];
  const senders: Dispatcher[] = [];
  /** The number of the senders' store calls in progress. */
  let pendingCalls = 0;
  async function count<T>(asked: Promise<T>): Promise<T> {
    pendingCalls += 1;
    return asked.finally(() => {
      pendingCalls -= 1;
    });
  }
  const watched: Store = {
    ...store,
    change: (work) => count(store.change(work)),
    deliveries: { ...store.deliveries, due: (now, room) => count(store.deliveries.due(now, room)) },
  };

  const send: SenderParts["send"] = ({ id }, { id: eventId, body }, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<AttemptResult>();
    const at = clock.now();
    const none = {
      status: null,
      failure: null,
      latencyMs: 1,
      response: null,
      delivered: false,
      retryAfter: null,
    };
    signal?.addEventListener("abort", () => reject(signal.reason));
    requests.push({
      webhookId: id,
      eventId,
      body,
      answer: (sent = successResult) => resolve({ at, ...none, ...sent }),
    });
    return promise;
  };

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = Date.now() + hangMs; !(await isSo()); await turn())
      if (Date.now() > end) throw new Error("it never was so");
  }

  return {
    ...{ database, store: watched, clock, requests, notices, logged },
    start(more = {}) {
      const parts = { store: watched, clock, random: () => new Uint8Array([128, 0, 0, 0]), send, ...more };
      const sender = startSender({
        log: (_level, text) => void logged.push(text),
        notify: async (off) => void notices.push(off),
        ...parts,
      });
      senders.push(sender);
      return sender;
    },
    async putWebhook(members = {}) {
      const webhook = signedWebhook(members);
      await store.change((tx) => tx.webhooks.insert(webhook));
      return webhook;
    },
    async putEvent(taskId, seq, type, ...webhooks) {
      if ((await store.tasks.byId(taskId)) === null) await putTask(store, { id: taskId });
      const id = `${type}_${taskId}_${1_790_000_000 + seq}`;
      const createdAt = clock.now();
      const event = {
        id,
        type,
        taskId,
        seq,
        spaceId: ann.spaceId,
        body: JSON.stringify({ event_id: id }),
        createdAt,
      };
      const deliveries = webhooks.map((webhook) => ({
        ...{ id: systemIds.short(), webhookId: webhook.id, eventId: id, type, taskId, seq, createdAt },
        ...{ state: "pending" as const, attempts: 0, nextAt: createdAt, settledAt: null },
      }));
      await store.change((tx) => tx.webhookEvents.insert([event], deliveries));
      return id;
    },
    async deliveries() {
      const rows = await runDirectly(
        database,
        "SELECT id, webhook_id, event_id, state, attempts, next_at FROM delivery ORDER BY event_id, webhook_id",
      );
      return rows.map((row) => ({
        id: String(row["id"]),
        webhookId: String(row["webhook_id"]),
        eventId: String(row["event_id"]),
        state: row["state"] as Delivery["state"], // the tested code wrote it
        attempts: Number(row["attempts"]),
        nextAt: row["next_at"] === null ? null : Number(row["next_at"]),
      }));
    },
    async waitForRequests(count) {
      await until(() => requests.length >= count);
      return requests;
    },
    async quiet() {
      // A round after all news finds nothing more to do.
      for (let look = 0; look < 2; look++) {
        await clock.advance(1_000);
        let stillTurns = 0;
        await until(() => {
          stillTurns = pendingCalls === 0 ? stillTurns + 1 : 0;
          return stillTurns > 5;
        });
      }
    },
    async [Symbol.asyncDispose]() {
      const ended = Promise.all(senders.map((sender) => sender.drain(0)));
      await clock.advance(1);
      await ended;
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A webhook with its own secret. */
function signedWebhook(members: Partial<Webhook>): Webhook {
  const id = members.id ?? systemIds.short();
  const secret = sealWebhookSecret(cipher, id, newWebhookSecret(systemRandom));
  return sampleWebhook({ id, url: `https://hooks.example.com/${id}`, secret, ...members });
}
