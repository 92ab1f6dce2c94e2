import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/secret.ts";
import type { Webhook, WebhookEventType } from "../../src/core/webhooks/webhook.ts";
import { receiver } from "../egress/receiver.ts";
import { ann, putTask, sampleWebhook } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { eventually } from "./server.ts";

// The full form: DELIVERY_KILLS=50 DELIVERY_EVENTS=2000 npx vitest run --project rooms test/faults/deliveries.test.ts
const kills = Number(process.env["DELIVERY_KILLS"] ?? 4);
const events = Number(process.env["DELIVERY_EVENTS"] ?? 120);
const types: readonly WebhookEventType[] = ["task_created", "task_progress", "task_stopped"];
const webhooks = 10;
const program = fileURLToPath(new URL("inside/sender.ts", import.meta.url));

/** A request as the receiver has seen it. */
interface Seen {
  readonly id: string;
  readonly task: string;
  readonly type: string;
  readonly body: string;
  readonly isAccepted: boolean;
}

describeOnEach("deliveries by a process that is killed again and again", (kind) => {
  test(
    "arrive each at least once, with the same id and body, and each task's first attempts in order",
    async () => {
      await using database = await openTestStore(kind);
      const seen: Seen[] = [];
      await using server = await receiver(async (request, response) => {
        const body = (await json(request)) as { readonly task: string; readonly type: string }; // written below
        const isAccepted = seen.length % 3 !== 0;
        seen.push({ id: String(request.headers["webhook-id"]), ...body, body: JSON.stringify(body), isAccepted });
        if (isAccepted) response.writeHead(204).end();
        else if (seen.length % 2 === 0) response.writeHead(503).end();
        else response.destroy();
      });
      const bodies = await putEvents(database.store, server.url);
      const epoch = Date.now();
      for (let kill = 0; kill < kills; kill++) {
        const sender = startSender(database, epoch);
        const enough = seen.length + Math.floor(events / kills / 2);
        await Promise.race([eventually("some requests", async () => seen.length >= enough), once(sender, "exit")]);
        await end(sender);
      }
      const last = startSender(database, epoch);
      const isDone = async () =>
        (await directly(database, "SELECT id FROM delivery WHERE state <> 'delivered' AND type <> 'task_progress' LIMIT 1")).length === 0;
      await eventually("all delivered", isDone);
      await end(last);

      const accepted = seen.filter(({ isAccepted }) => isAccepted);
      const missing = [...bodies.keys()].filter((id) => !accepted.some((one) => one.id === id) && !id.startsWith("task_progress"));
      expect(missing).toEqual([]);
      expect(seen.filter(({ id, body }) => bodies.get(id) !== body)).toEqual([]);
      for (const [task, ofTask] of Map.groupBy(seen, ({ task }) => task)) {
        const firsts = [...new Set(ofTask.map(({ type }) => type))];
        expect(firsts, task).toEqual(types.filter((type) => firsts.includes(type)));
      }
      const duplicates = accepted.length - new Set(accepted.map(({ id }) => id)).size;
      console.log(`${kind}: ${kills} kills, ${bodies.size} events, ${seen.length} requests, ${duplicates} duplicates of what was accepted`);
    },
    60_000 + kills * 10_000,
  );
});

/** Events of tasks, three each, for webhooks in turn; the bodies by id. */
async function putEvents(store: Store, url: string): Promise<ReadonlyMap<string, string>> {
  const bodies = new Map<string, string>();
  const hooks = Array.from({ length: webhooks }, (_, index) => webhookAt(`${url}/${index}`));
  for (const hook of hooks) await store.change((tx) => tx.webhooks.insert(hook));
  for (let number = 0; number < events / types.length; number++) {
    const task = await putTask(store, {});
    const { id: webhookId } = hooks[number % webhooks] as Webhook; // there are so many
    const told = types.map((type, index) => {
      const id = `${type}_${task.id}_1790000000`;
      bodies.set(id, JSON.stringify({ task: task.id, type }));
      return { id, type, taskId: task.id, seq: index + 1, spaceId: ann.spaceId, body: bodies.get(id) ?? "", createdAt: 1 };
    });
    const deliveries = told.map(({ id: eventId, type, taskId, seq }) => ({
      ...{ id: systemIds.short(), webhookId, eventId, type, taskId, seq, state: "pending" as const },
      ...{ attempts: 0, nextAt: 1, createdAt: 1, settledAt: null },
    }));
    await store.change((tx) => tx.webhookEvents.insert(told, deliveries));
  }
  return bodies;
}

function webhookAt(url: string): Webhook {
  const id = systemIds.short();
  return sampleWebhook({ id, url, secret: sealWebhookSecret(cipher, id, newWebhookSecret(systemRandom)) });
}

const startSender = ({ url }: TestStore, epoch: number): ChildProcess =>
  spawn(process.execPath, [program, url, String(epoch)], { stdio: ["ignore", "ignore", "inherit"] });

/** Ends it as a power cut would. */
async function end(child: ChildProcess): Promise<void> {
  expect(child.exitCode, "it runs until it is killed").toBeNull();
  child.kill("SIGKILL");
  await once(child, "exit");
}
