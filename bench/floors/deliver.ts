// Deliveries of the platform's sender, and their floor in the same process: RSA signing on the thread pool
// and undici's POST.

import { sign } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Pool } from "undici";
import { createUserResolver } from "../../src/adapters/egress/resolve.ts";
import type { Dispatcher } from "../../src/async/dispatcher.ts";
import { loadConfig } from "../../src/config/config.ts";
import { systemClock as clock } from "../../src/core/clock.ts";
import { systemIds as ids, systemRandom as random } from "../../src/core/ids.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { embeddedQueue } from "../../src/jobs/embedded.ts";
import { openInstallation } from "../../src/start/installation.ts";
import { deliveryKeys } from "../../src/webhooks/keys.ts";
import { webhookSender } from "../../src/webhooks/send.ts";
import { startSender } from "../../src/webhooks/sender.ts";
import { serve } from "./serve.ts";

/** The sender's concurrent deliveries: five to each of 20 webhooks. */
const concurrency = 100;
/** Deliveries that wait at the beginning for a webhook whose receiver hangs. */
const backlog = 30;
const log = (...line: readonly unknown[]) => console.error(...line);
const config = loadConfig({ ...process.env, WEBHOOK_ALLOW: "loopback" });
const { store, cipher } = await openInstallation(config, { clock, ids, random, log }, async () => undefined);
const keys = deliveryKeys({ store, cipher, clock, ids });
const { rsa } = await keys.signing();
const send = webhookSender({
  clock,
  cipher,
  keys,
  resolve: createUserResolver({ clock }),
  allowed: config.webhookAllow,
  userAgent: "bench",
});
const owner = { accountId: "bench", spaceId: "bench" };
const hooks: string[] = [];
const delay = monitorEventLoopDelay({ resolution: 5 });

/** A body as long as specified ones. */
const bodyOf = (id: string): string =>
  JSON.stringify({ event_id: id, event_type: "task_stopped", task_detail: { message: "x".repeat(500) } });

/** Commits events of new tasks, one each, distributed round-robin over these webhooks. */
async function commitEvents(count: number, to: readonly string[]): Promise<readonly string[]> {
  const now = clock.now();
  const notified = Array.from({ length: count }, () => ({
    task: idleTask(ids.short(), owner, now),
    id: ids.short(),
  }));
  await store.change(async (tx) => {
    for (const { task } of notified) await tx.tasks.insert(task, []);
    const events = notified.map(({ task, id }) => ({
      id,
      type: "task_stopped" as const,
      taskId: task.id,
      seq: 1,
      spaceId: owner.spaceId,
      body: bodyOf(id),
      createdAt: now,
    }));
    const deliveries = events.map(({ id: eventId, type, taskId, seq, createdAt }, index) => ({
      id: ids.short(),
      webhookId: to[index % to.length] ?? "",
      eventId,
      type,
      taskId,
      seq,
      createdAt,
      state: "pending" as const,
      attempts: 0,
      nextAt: now,
      settledAt: null,
    }));
    for (let from = 0; from < count; from += 100) {
      await tx.webhookEvents.insert(events.slice(from, from + 100), deliveries.slice(from, from + 100));
    }
    await tx.jobs.put({ kind: "deliver", key: notified[0]?.task.id ?? "", runAt: now });
  });
  return notified.map(({ id }) => id);
}

async function register({ url, count }: { readonly url: string; readonly count: number }): Promise<object> {
  for (let number = 0; number < count; number++) hooks.push(await putWebhook(url));
  return {};
}

async function putWebhook(url: string): Promise<string> {
  const id = ids.short();
  await store.change((tx) =>
    tx.webhooks.insert({
      ...owner,
      id,
      url: `${url}/${id}`,
      clientId: null,
      status: "active",
      inactiveReason: null,
      eventTypes: ["task_stopped"],
      doubleHash: false,
      secret: sealWebhookSecret(cipher, id, newWebhookSecret(random)),
      oldSecret: null,
      oldSecretUntil: null,
      createdAt: 1,
      failingSince: null,
      failures: 0,
      projectId: null,
      metadata: {},
      name: null,
      deletedAt: null,
    }),
  );
  return id;
}

/** A sender, with a promise that resolves after `count` deliveries. */
function senderOf(count: number): { readonly sender: Dispatcher; readonly done: Promise<void> } {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let left = count;
  const countingSend: typeof send = async (...request) => {
    const sent = await send(...request);
    if (sent.delivered) left -= 1;
    else log("not delivered", sent);
    if (left === 0) resolve();
    return sent;
  };
  return {
    sender: startSender({ store, clock, random, log, send: countingSend, notify: async () => undefined }),
    done,
  };
}

/**
 * The duration of `work` in milliseconds, the CPU time per delivery, and the event loop's delay in that time.
 */
async function measure(count: number, work: () => Promise<unknown>): Promise<object> {
  delay.reset();
  delay.enable();
  const [startedAt, used] = [performance.now(), process.cpuUsage()];
  await work();
  const [ms, { user, system }] = [performance.now() - startedAt, process.cpuUsage(used)];
  delay.disable();
  return { ms, cpuMs: (user + system) / 1_000 / count, loopDelayP99Ms: delay.percentile(99) / 1e6 };
}

/** From the first claim until the last of committed events is delivered and recorded. */
async function ours({ count }: { readonly count: number }): Promise<object> {
  await commitEvents(count, hooks);
  return measure(count, async () => {
    const { sender, done } = senderOf(count);
    sender.wake();
    await done;
    await sender.drain(1_000);
  });
}

const signAsync = promisify<string, Uint8Array, typeof rsa, Buffer>(sign);

/** The floor. @param fresh a new connection for each request, as the egress guard opens it. */
async function bare({
  count,
  url,
  fresh,
}: {
  readonly count: number;
  readonly url: string;
  readonly fresh: boolean;
}): Promise<object> {
  const pool = new Pool(url, { connections: concurrency, pipelining: fresh ? 0 : 1 });
  const body = bodyOf(ids.short());
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      const signature = (await signAsync("RSA-SHA256", Buffer.from(body), rsa)).toString("base64");
      const headers = { "content-type": "application/json", "x-webhook-signature": signature };
      await (await pool.request({ path: "/", method: "POST", headers, body })).body.dump();
    }
  };
  const answer = await measure(count, () => Promise.all(Array.from({ length: concurrency }, loop)));
  await pool.destroy();
  return answer;
}

interface Trickle {
  readonly perSecond: number;
  readonly count: number;
  /** The URL of a hanging receiver that gets as many events as each of the others. */
  readonly hanging?: string;
}

/**
 * Commits events at a rate, as calls do, round-robin to the webhooks. Returns each commit's time in Unix
 * milliseconds.
 */
async function trickle({ perSecond, count, hanging }: Trickle): Promise<object> {
  const committed: Record<string, number> = {};
  const stuck = hanging === undefined ? [] : [await putWebhook(hanging)];
  if (stuck.length > 0) await commitEvents(backlog, stuck);
  const { sender, done } = senderOf(count);
  const queue = embeddedQueue(store, clock, log);
  await queue.subscribe("deliver", async () => sender.wake(), sender.hasCapacity);
  delay.reset();
  delay.enable();
  const startedAt = performance.now();
  const commits: Promise<unknown>[] = [];
  async function commitOne(hook: string) {
    const [id = ""] = await commitEvents(1, [hook]);
    committed[id] = performance.timeOrigin + performance.now();
  }
  for (let number = 0; number < count; number++) {
    const wait = startedAt + (number * 1_000) / perSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const turn = number % hooks.length;
    commits.push(commitOne(hooks[turn] ?? ""));
    if (turn === 0 && stuck.length > 0) commits.push(commitEvents(1, stuck));
  }
  await Promise.all([done, ...commits]);
  delay.disable();
  await queue.drain();
  await sender.drain(stuck.length > 0 ? 0 : 1_000);
  for (const id of stuck) await store.change((tx) => tx.webhooks.tombstone(id, clock.now()));
  return { committed, loopDelayP99Ms: delay.percentile(99) / 1e6 };
}

// Each handler reads its members of the body.
serve<Trickle & { readonly url: string; readonly fresh: boolean }>({
  "/register": register,
  "/ours": ours,
  "/bare": bare,
  "/trickle": trickle,
});
