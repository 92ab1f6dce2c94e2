import { randomBytes } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { receiver } from "../egress/receiver.ts";
import { type DatabaseKind, databaseKinds, databaseUrl, postgresTemplate, type TestDatabase } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { type Dice, diceOf } from "./harness/dice.ts";
import { eventually, type Installation, installation, type Server, userOf } from "./server.ts";

// The full form, which takes PostgreSQL as well: KILLS=50 EVENTS=2000 npx vitest run --project rooms test/faults/webhooks.test.ts
const isFull = process.env["KILLS"] !== undefined;
const kills = Number(process.env["KILLS"] ?? 3);
const events = Number(process.env["EVENTS"] ?? 96);

const types = ["task_created", "task_progress", "task_stopped"];
const content = "[[plan Look]] [[step]] [[say Done]]";
const tasks = Math.ceil(events / types.length);
const webhooks = 2;
/** People who create one task after the other. */
const lanes = 4;
const hourMs = 3_600_000;
/** Longer than the lease of an attempt that is under way, and than the shortest wait for the next one. */
const soonMs = 21_000;
const clock = fileURLToPath(new URL("inside/clock.ts", import.meta.url));

/** A request as the receiver has seen it. */
interface Seen {
  /** Which webhook, and which event. */
  readonly key: string;
  readonly path: string;
  readonly type: string;
  readonly task: string;
  readonly body: string;
  readonly isAccepted: boolean;
}

/** A receiver that fails a third of the time: in turn it answers 503, or breaks off. */
async function failing() {
  const seen: Seen[] = [];
  const server = await receiver(async (request, response) => {
    // Of a server that is killed, half a request may come.
    const body = await text(request).catch(() => "");
    if (body === "") return;
    const { event_type: type, task_detail, progress_detail } = JSON.parse(body);
    if (type === "webhook_test") return void response.writeHead(204).end();
    const isAccepted = seen.length % 3 !== 0;
    const path = request.url ?? "";
    seen.push({
      key: `${path} ${request.headers["webhook-id"]}`,
      path,
      type,
      task: (task_detail ?? progress_detail).task_id,
      body,
      isAccepted,
    });
    if (isAccepted) response.writeHead(204).end();
    else if (seen.length % 2 === 0) response.writeHead(503).end();
    else response.destroy();
  });
  return { seen, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Lives of one server, and its time of day: the schedule is the real one, only that nobody waits for its hours. */
interface Lives extends AsyncDisposable {
  readonly database: TestDatabase;
  now(): number;
  /** Steps the clock forward, at once or for the next life. */
  later(ms: number): void;
  start(): Promise<Server>;
  key(): Promise<string>;
}

async function openLives(kind: DatabaseKind): Promise<Lives> {
  const given = kind === "postgresql" ? await databaseUrl(kind) : undefined;
  const env = given ? { DATABASE_URL: given.url, ENCRYPTION_KEY: randomBytes(32).toString("base64") } : {};
  const place: Installation = installation({ WEBHOOK_ALLOW: "loopback", ...env });
  let offsetMs = 0;
  return {
    database: given ?? { kind, url: `file:${join(place.dataDir, "platform.db")}`, [Symbol.asyncDispose]: async () => undefined },
    now: () => Date.now() + offsetMs,
    later(ms) {
      offsetMs += ms;
      const path = join(place.dataDir, "clock-offset-ms");
      writeFileSync(`${path}.new`, String(offsetMs));
      renameSync(`${path}.new`, path);
    },
    start: () => place.start({ preloads: [clock] }),
    key: () => place.key(),
    async [Symbol.asyncDispose]() {
      place[Symbol.dispose]();
      await given?.[Symbol.asyncDispose]();
    },
  };
}

/** Creates those tasks that were not acknowledged yet, until the server is gone or all are; puts their ids in. */
async function createAll(server: Server, key: string, ids: (string | undefined)[], upTo: number): Promise<void> {
  const user = userOf(server, key);
  const left = ids.slice(0, upTo).entries();
  async function lane(): Promise<void> {
    for (const [number, id] of left) {
      if (id !== undefined) continue;
      const { body } = await user.call("task.create", { message: { content } }, { "idempotency-key": `task-${number}` });
      if (body.ok) ids[number] = body["task_id"];
    }
  }
  await Promise.all(Array.from({ length: lanes }, () => lane().catch(() => undefined)));
}

/** Kills a server in the middle of its deliveries; answers how many of them it leaves. */
async function killAmid(server: Server, { database }: Lives, seen: readonly Seen[], dice: Dice): Promise<number> {
  const enough = seen.length + dice.below(Math.ceil((tasks / kills) * types.length * webhooks));
  const latest = performance.now() + 5_000;
  while (seen.length < enough && performance.now() < latest) await delay(5);
  await server.end("SIGKILL");
  return countOf(database, "delivery WHERE state = 'pending'");
}

async function countOf(database: TestDatabase, rows: string): Promise<number> {
  const [row] = await directly(database, `SELECT COUNT(*) AS n FROM ${rows}`);
  return Number(row?.["n"]);
}

/** Lets a server live for days, until nothing is to be sent any more. */
async function settle(lives: Lives, seen: readonly Seen[]): Promise<void> {
  const { database } = lives;
  await eventually("all tasks rest", async () => (await countOf(database, "task WHERE status = 'running'")) === 0);
  // Ten attempts, and one that was cut off more than once.
  for (let day = 0; day < 20; day += 1, lives.later(25 * hourMs)) {
    const isDone = async () => (await countOf(database, `delivery WHERE state = 'pending' AND next_at <= ${lives.now() + soonMs}`)) === 0;
    while (!(await isDone())) {
      const before = seen.length;
      await eventually("what is due is sent", async () => seen.length > before || (await isDone()));
    }
    if ((await countOf(database, "delivery WHERE state = 'pending'")) === 0) return;
  }
  throw new Error("deliveries never end");
}

/** Holds what the receiver has seen against the tasks that were acknowledged. */
function check(seen: readonly Seen[], ids: readonly (string | undefined)[]): void {
  const accepted = new Set(seen.filter(({ isAccepted }) => isAccepted).map(({ key }) => key));
  for (const [key, attempts] of Map.groupBy(seen, ({ key }) => key)) {
    const bodies = [...new Set(attempts.map(({ body }) => body))];
    expect(bodies, `bodies of ${key}`).toHaveLength(1);
    expect(key.split(" ")[1]).toBe(JSON.parse(bodies[0] ?? "").event_id);
  }
  const byTask = Map.groupBy(seen, ({ path, task }) => `${path} ${task}`);
  expect(new Set(byTask.keys())).toEqual(new Set(ids.flatMap((id) => paths.map((path) => `${path} ${id}`))));
  for (const [task, attempts] of byTask) {
    const keys = [...new Set(attempts.map(({ key }) => key))];
    const firsts = keys.map((key) => attempts.find((attempt) => attempt.key === key)?.type);
    expect(firsts, `first attempts of ${task}`).toEqual(types.filter((type) => type !== "task_progress" || firsts.includes(type)));
    const missing = keys.filter((key) => !accepted.has(key) && !key.includes("task_progress"));
    expect(missing, `events of ${task} that never arrived`).toEqual([]);
  }
}

const paths = Array.from({ length: webhooks }, (_, index) => `/${index}`);

describe.each(isFull ? databaseKinds : (["sqlite"] as const))("webhooks of a server that is killed again and again (%s)", (kind) => {
  test.skipIf(kind === "postgresql" && postgresTemplate === undefined)(
    "are told of every acknowledged task at least once, with the same id and body each time, first attempts in order",
    async () => {
      await using hook = await failing();
      await using lives = await openLives(kind);
      const begun = performance.now();
      let server = await lives.start();
      const key = await lives.key();
      for (const path of paths) {
        const { body } = await userOf(server, key).call("webhook.create", { url: hook.url + path, event_types: types });
        expect(body).toMatchObject({ ok: true });
      }
      const dice = diceOf(`webhooks of ${kind}`);
      const ids: (string | undefined)[] = Array.from({ length: tasks }, () => undefined);
      let left = 0;
      for (let kill = 1; kill <= kills; kill += 1) {
        const creating = createAll(server, key, ids, Math.ceil((tasks / kills) * kill));
        left += await killAmid(server, lives, hook.seen, dice);
        await creating;
        // What was cut off is due again, and so are the retries of the first minutes; progress is too old then.
        if (kill % 5 === 0 || kill === kills) lives.later(hourMs);
        server = await lives.start();
      }
      expect(left, "deliveries that were left by a kill").toBeGreaterThan(0);
      await createAll(server, key, ids, tasks);
      expect(ids).not.toContain(undefined);
      await settle(lives, hook.seen);
      expect((await server.end("SIGTERM")).code).toBe(0);

      check(hook.seen, ids);
      const accepted = hook.seen.filter(({ isAccepted }) => isAccepted);
      const different = new Set(accepted.map(({ key }) => key)).size;
      const told = await countOf(lives.database, "webhook_event");
      const seconds = Math.round((performance.now() - begun) / 1000);
      console.info(
        `${kind}: ${kills} kills in ${seconds} s, ${tasks} tasks, ${told} events for ${webhooks} webhooks each, ` +
          `${hook.seen.length} requests, ${hook.seen.length - accepted.length} of them failed, ${different} deliveries accepted, ` +
          `${accepted.length - different} duplicates of them`,
      );
    },
    60_000 + kills * 30_000,
  );
});
