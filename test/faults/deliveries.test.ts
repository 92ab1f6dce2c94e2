import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import type { Webhook, WebhookEventType } from "../../src/core/webhooks/webhook.ts";
import { openReceiver } from "../egress/receiver.ts";
import { ann, putTask, sampleWebhook } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { sampledTest } from "../support/sampled.ts";
import { eventually } from "./server.ts";

const test = sampledTest(3);

const kills = sample(50, 2);
const events = sample(2000, 60);
const types: readonly WebhookEventType[] = ["task_created", "task_progress", "task_stopped"];
const webhooks = 10;
const program = fileURLToPath(new URL("inside/sender.ts", import.meta.url));

/** A request as the receiver got it. */
interface ReceivedRequest {
  readonly id: string;
  readonly task: string;
  readonly type: string;
  readonly body: string;
  readonly isAccepted: boolean;
}

describeOnEach("deliveries by a process that is killed again and again", (kind) => {
  test(
    "arrive at least once each, with the same id and body, and each task's first attempts in order",
    async () => {
      await using database = await openTestStore(kind);
      const received: ReceivedRequest[] = [];
      await using server = await openReceiver(async (request, response) => {
        const body = (await json(request)) as { readonly task: string; readonly type: string }; // written below
        const isAccepted = received.length % 3 !== 0;
        received.push({
          id: String(request.headers["webhook-id"]),
          ...body,
          body: JSON.stringify(body),
          isAccepted,
        });
        if (isAccepted) response.writeHead(204).end();
        else if (received.length % 2 === 0) response.writeHead(503).end();
        else response.destroy();
      });
      const bodies = await putEvents(database.store, server.url);
      const epoch = Date.now();
      for (let kill = 0; kill < kills; kill++) {
        const sender = startSender(database, epoch);
        const enough = received.length + Math.floor(events / kills / 2);
        await Promise.race([
          eventually("some requests", async () => received.length >= enough),
          once(sender, "exit"),
        ]);
        await end(sender);
      }
      const last = startSender(database, epoch);
      const isDone = async () =>
        (
          await runDirectly(
            database,
            "SELECT id FROM delivery WHERE state <> 'delivered' AND type <> 'task_progress' LIMIT 1",
          )
        ).length === 0;
      await eventually("all delivered", isDone);
      await end(last);

      const accepted = received.filter(({ isAccepted }) => isAccepted);
      const missing = [...bodies.keys()].filter(
        (id) => !accepted.some((one) => one.id === id) && !id.startsWith("task_progress"),
      );
      expect(missing).toEqual([]);
      expect(received.filter(({ id, body }) => bodies.get(id) !== body)).toEqual([]);
      for (const [task, ofTask] of Map.groupBy(received, ({ task }) => task)) {
        const firsts = [...new Set(ofTask.map(({ type }) => type))];
        expect(firsts, task).toEqual(types.filter((type) => firsts.includes(type)));
      }
      const duplicates = accepted.length - new Set(accepted.map(({ id }) => id)).size;
      console.log(
        `${kind}: ${kills} kills, ${bodies.size} events, ${received.length} requests, ${duplicates} duplicates of what was accepted`,
      );
    },
    60_000 + kills * 10_000,
  );
});

/** Events of tasks, three each, for the webhooks in rotation; the bodies by id. */
async function putEvents(store: Store, url: string): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>();
  const hooks = Array.from({ length: webhooks }, (_, index) => webhookAt(`${url}/${index}`));
  for (const hook of hooks) await store.change((tx) => tx.webhooks.insert(hook));
  for (let number = 0; number < events / types.length; number++) {
    const task = await putTask(store, {});
    const { id: webhookId } = hooks[number % webhooks] as Webhook; // the index is in range
    const taskEvents = types.map((type, index) => {
      const id = `${type}_${task.id}_1790000000`;
      bodies.set(id, JSON.stringify({ task: task.id, type }));
      return {
        id,
        type,
        taskId: task.id,
        seq: index + 1,
        spaceId: ann.spaceId,
        body: bodies.get(id) ?? "",
        createdAt: 1,
      };
    });
    const deliveries = taskEvents.map(({ id: eventId, type, taskId, seq }) => ({
      ...{ id: systemIds.short(), webhookId, eventId, type, taskId, seq, state: "pending" as const },
      ...{ attempts: 0, nextAt: 1, createdAt: 1, settledAt: null },
    }));
    await store.change((tx) => tx.webhookEvents.insert(taskEvents, deliveries));
  }
  return bodies;
}

function webhookAt(url: string): Webhook {
  const id = systemIds.short();
  return sampleWebhook({ id, url, secret: sealWebhookSecret(cipher, id, newWebhookSecret(systemRandom)) });
}

const startSender = ({ url }: TestStore, epoch: number): ChildProcess =>
  spawn(process.execPath, [program, url, String(epoch)], { stdio: ["ignore", "ignore", "inherit"] });

/** Ends it like a power cut. */
async function end(child: ChildProcess): Promise<void> {
  expect(child.exitCode, "it runs until it is killed").toBeNull();
  child.kill("SIGKILL");
  await once(child, "exit");
}
