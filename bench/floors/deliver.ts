// Deliveries of the platform's own sender, and their floor in the same process: RSA signing on the thread pool and undici's POST.
import { sign } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Pool } from "undici";
import { loadConfig } from "../../src/config.ts";
import { systemClock as clock } from "../../src/core/clock.ts";
import { systemIds as ids, systemRandom as random } from "../../src/core/ids.ts";
import { restingTask } from "../../src/core/tasks/new-task.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/secret.ts";
import { deliveryKeys } from "../../src/delivery/keys.ts";
import { webhookSender } from "../../src/delivery/send.ts";
import { type Sender, startSender } from "../../src/delivery/sender.ts";
import { userNames } from "../../src/egress/resolve.ts";
import { openInstallation } from "../../src/installation.ts";
import { embeddedQueue } from "../../src/jobs/embedded.ts";
import { serve } from "./serve.ts";

/** As many as the sender has at once, five to each of 20 webhooks. */
const atOnce = 100;
/** What waits for a webhook whose receiver hangs, at the beginning. */
const backlog = 30;
const log = (...line: readonly unknown[]) => console.error(...line);
const config = loadConfig({ ...process.env, WEBHOOK_ALLOW: "loopback" });
const { store, cipher } = await openInstallation(config, { clock, ids, random, log }, async () => undefined);
const keys = deliveryKeys({ store, cipher, clock, ids });
const { rsa } = await keys.signing();
const send = webhookSender({ clock, cipher, keys, resolve: userNames({ clock }), allowed: config.webhookAllow, userAgent: "bench" });
const owner = { accountId: "bench", spaceId: "bench" };
const hooks: string[] = [];
const delay = monitorEventLoopDelay({ resolution: 5 });

/** As long as those of the contract. */
const bodyOf = (id: string): string =>
  JSON.stringify({ event_id: id, event_type: "task_stopped", task_detail: { message: "x".repeat(500) } });

/** Events of tasks of their own, one each, told to these webhooks in turn. */
async function tell(count: number, to: readonly string[]): Promise<readonly string[]> {
  const now = clock.now();
  const told = Array.from({ length: count }, () => ({ task: restingTask(ids.short(), owner, now), id: ids.short() }));
  await store.change(async (tx) => {
    for (const { task } of told) await tx.tasks.insert(task, []);
    const events = told.map(({ task, id }) => ({
      ...{ id, type: "task_stopped" as const, taskId: task.id, seq: 1, spaceId: owner.spaceId, body: bodyOf(id), createdAt: now },
    }));
    const deliveries = events.map(({ id: eventId, type, taskId, seq, createdAt }, index) => ({
      ...{ id: ids.short(), webhookId: to[index % to.length] ?? "", eventId, type, taskId, seq, createdAt },
      ...{ state: "pending" as const, attempts: 0, nextAt: now, settledAt: null },
    }));
    for (let from = 0; from < count; from += 100) {
      await tx.webhookEvents.insert(events.slice(from, from + 100), deliveries.slice(from, from + 100));
    }
    await tx.jobs.put({ kind: "deliver", key: told[0]?.task.id ?? "", runAt: now });
  });
  return told.map(({ id }) => id);
}

async function register({ url, count }: { readonly url: string; readonly count: number }): Promise<object> {
  for (let number = 0; number < count; number++) hooks.push(await putWebhook(url));
  return {};
}

async function putWebhook(url: string): Promise<string> {
  const id = ids.short();
  await store.change((tx) =>
    tx.webhooks.insert({
      ...{ ...owner, id, url: `${url}/${id}`, clientId: null, status: "active", inactiveReason: null, eventTypes: ["task_stopped"] },
      ...{ doubleHash: false, secret: sealWebhookSecret(cipher, id, newWebhookSecret(random)), oldSecret: null, oldSecretUntil: null },
      ...{ createdAt: 1, failingSince: null, failures: 0, deletedAt: null },
    }),
  );
  return id;
}

/** A sender, and when it has delivered so many. */
function senderOf(count: number): { readonly sender: Sender; readonly done: Promise<void> } {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let left = count;
  const counted: typeof send = async (...request) => {
    const sent = await send(...request);
    if (sent.delivered) left -= 1;
    else log("not delivered", sent);
    if (left === 0) resolve();
    return sent;
  };
  return { sender: startSender({ store, clock, random, log, send: counted, notify: async () => undefined }), done };
}

/** Milliseconds that work takes, those of the processor for each of `count`, and the event loop's delay meanwhile. */
async function measured(count: number, work: () => Promise<unknown>): Promise<object> {
  delay.reset();
  delay.enable();
  const [began, used] = [performance.now(), process.cpuUsage()];
  await work();
  const [ms, { user, system }] = [performance.now() - began, process.cpuUsage(used)];
  delay.disable();
  return { ms, cpuMs: (user + system) / 1_000 / count, loopDelayP99Ms: delay.percentile(99) / 1e6 };
}

/** From the first claim until the last of committed events is delivered and recorded. */
async function ours({ count }: { readonly count: number }): Promise<object> {
  await tell(count, hooks);
  return measured(count, async () => {
    const { sender, done } = senderOf(count);
    sender.wake();
    await done;
    await sender.drain(1_000);
  });
}

const signAside = promisify<string, Uint8Array, typeof rsa, Buffer>(sign);

/** @param fresh a connection for each request, as the guard has it. */
async function bare({ count, url, fresh }: { readonly count: number; readonly url: string; readonly fresh: boolean }): Promise<object> {
  const pool = new Pool(url, { connections: atOnce, pipelining: fresh ? 0 : 1 });
  const body = bodyOf(ids.short());
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      const signature = (await signAside("RSA-SHA256", Buffer.from(body), rsa)).toString("base64");
      const headers = { "content-type": "application/json", "x-webhook-signature": signature };
      await (await pool.request({ path: "/", method: "POST", headers, body })).body.dump();
    }
  };
  const answer = await measured(count, () => Promise.all(Array.from({ length: atOnce }, loop)));
  await pool.destroy();
  return answer;
}

interface Trickle {
  readonly perSecond: number;
  readonly count: number;
  /** Where a receiver hangs that is told as often as each of the others. */
  readonly hanging?: string;
}

/** When each event was committed, Unix milliseconds: so many a second, as from calls, to the webhooks in turn. */
async function trickle({ perSecond, count, hanging }: Trickle): Promise<object> {
  const committed: Record<string, number> = {};
  const stuck = hanging === undefined ? [] : [await putWebhook(hanging)];
  if (stuck.length > 0) await tell(backlog, stuck);
  const { sender, done } = senderOf(count);
  const queue = embeddedQueue(store, clock, log);
  await queue.subscribe("deliver", async () => sender.wake(), sender.hasRoom);
  delay.reset();
  delay.enable();
  const began = performance.now();
  const told: Promise<unknown>[] = [];
  async function tellOne(hook: string) {
    const [id = ""] = await tell(1, [hook]);
    committed[id] = performance.timeOrigin + performance.now();
  }
  for (let number = 0; number < count; number++) {
    const wait = began + (number * 1_000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const turn = number % hooks.length;
    told.push(tellOne(hooks[turn] ?? ""));
    if (turn === 0 && stuck.length > 0) told.push(tell(1, stuck));
  }
  await Promise.all([done, ...told]);
  delay.disable();
  await queue.drain();
  await sender.drain(stuck.length > 0 ? 0 : 1_000);
  for (const id of stuck) await store.change((tx) => tx.webhooks.bury(id, clock.now()));
  return { committed, loopDelayP99Ms: delay.percentile(99) / 1e6 };
}

// Each takes of the body what it needs.
serve<Trickle & { readonly url: string; readonly fresh: boolean }>({
  "/register": register,
  "/ours": ours,
  "/bare": bare,
  "/trickle": trickle,
});
