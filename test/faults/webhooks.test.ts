import { randomBytes } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { openReceiver } from "../egress/receiver.ts";
import {
  type DatabaseKind,
  databaseKinds,
  databaseUrl,
  postgresTemplate,
  type TestDatabase,
} from "../support/database.ts";
import { depth, sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { sampledTest } from "../support/sampled.ts";
import { type SeededRandom, seededRandom } from "./harness/seeded-random.ts";
import { eventually, type Installation, installation, type Server, userOf } from "./server.ts";

const test = sampledTest(3);

// PostgreSQL in full runs only.
const isFull = depth === "full";
const kills = sample(50, 1);
const events = sample(2000, 24);

const types = ["task_created", "task_progress", "task_stopped"];
const content = "[[plan Look]] [[step]] [[say Done]]";
const tasks = Math.ceil(events / types.length);
const webhooks = 2;
/** Users who create tasks sequentially. */
const lanes = 4;
const hourMs = 3_600_000;
const clock = fileURLToPath(new URL("inside/clock.ts", import.meta.url));

/** A request as the receiver got it. */
interface ReceivedRequest {
  /** The webhook and the event. */
  readonly key: string;
  readonly path: string;
  readonly type: string;
  readonly task: string;
  readonly body: string;
  readonly isAccepted: boolean;
}

/** A receiver that fails for a third of the requests: it answers 503 or cuts the connection, alternating. */
async function failing() {
  const received: ReceivedRequest[] = [];
  const server = await openReceiver(async (request, response) => {
    // A killed server may send half of a request.
    const body = await text(request).catch(() => "");
    if (body === "") return;
    const { event_type: type, task_detail, progress_detail } = JSON.parse(body);
    if (type === "webhook_test") return void response.writeHead(204).end();
    const isAccepted = received.length % 3 !== 0;
    const path = request.url ?? "";
    received.push({
      key: `${path} ${request.headers["webhook-id"]}`,
      path,
      type,
      task: (task_detail ?? progress_detail).task_id,
      body,
      isAccepted,
    });
    if (isAccepted) response.writeHead(204).end();
    else if (received.length % 2 === 0) response.writeHead(503).end();
    else response.destroy();
  });
  return { seen: received, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/**
 * Processes of one server, and its clock: the schedule is the real one, but the test does not wait for its
 * hours.
 */
interface ServerProcesses extends AsyncDisposable {
  readonly database: TestDatabase;
  now(): number;
  /** Steps the clock forward, at once or for the next process. */
  later(ms: number): void;
  start(): Promise<Server>;
  key(): Promise<string>;
}

async function openProcesses(kind: DatabaseKind): Promise<ServerProcesses> {
  const postgres = kind === "postgresql" ? await databaseUrl(kind) : undefined;
  const env = postgres
    ? { DATABASE_URL: postgres.url, ENCRYPTION_KEY: randomBytes(32).toString("base64") }
    : {};
  const place: Installation = installation({ WEBHOOK_ALLOW: "loopback", ...env });
  let offsetMs = 0;
  return {
    database: postgres ?? {
      kind,
      url: `file:${join(place.dataDir, "platform.db")}`,
      [Symbol.asyncDispose]: async () => undefined,
    },
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
      await postgres?.[Symbol.asyncDispose]();
    },
  };
}

/** Creates the tasks that are not acknowledged so far, until the server ends or all are; adds their ids. */
async function createAll(
  server: Server,
  key: string,
  ids: (string | undefined)[],
  upTo: number,
): Promise<void> {
  const user = userOf(server, key);
  const left = ids.slice(0, upTo).entries();
  async function lane(): Promise<void> {
    for (const [number, id] of left) {
      if (id !== undefined) continue;
      const { body } = await user.call(
        "task.create",
        { message: { content } },
        { "idempotency-key": `task-${number}` },
      );
      if (body.ok) ids[number] = body["task_id"];
    }
  }
  await Promise.all(Array.from({ length: lanes }, () => lane().catch(() => undefined)));
}

/** Kills a server in the middle of its deliveries; returns the number of remaining ones. */
async function killAmid(
  server: Server,
  { database }: ServerProcesses,
  seen: readonly ReceivedRequest[],
  dice: SeededRandom,
): Promise<number> {
  const enough = seen.length + dice.below(Math.ceil((tasks / kills) * types.length * webhooks));
  const latest = performance.now() + 3_000;
  while (seen.length < enough && performance.now() < latest) await delay(5);
  await server.end("SIGKILL");
  return countOf(database, "delivery WHERE state = 'pending'");
}

async function countOf(database: TestDatabase, rows: string): Promise<number> {
  const [row] = await runDirectly(database, `SELECT COUNT(*) AS n FROM ${rows}`);
  return Number(row?.["n"]);
}

/** Runs a server for days, until deliveries are no longer due. */
async function settle(lives: ServerProcesses, seen: readonly ReceivedRequest[]): Promise<void> {
  const { database } = lives;
  await eventually(
    "all tasks rest",
    async () => (await countOf(database, "task WHERE status = 'running'")) === 0,
  );
  // Ten attempts, and one that was cut off more than once: by a kill, or by a clock step past its lease.
  for (let day = 0; day < 20; day += 1, lives.later(25 * hourMs)) {
    const isDone = async () =>
      (await countOf(database, `delivery WHERE state = 'pending' AND next_at <= ${lives.now()}`)) === 0;
    while (!(await isDone())) {
      const before = seen.length;
      await eventually("what is due is sent", async () => seen.length > before || (await isDone()));
    }
    if ((await countOf(database, "delivery WHERE state = 'pending'")) === 0) return;
  }
  throw new Error("deliveries never end");
}

/** Compares the receiver's requests with the acknowledged tasks. */
function check(seen: readonly ReceivedRequest[], ids: readonly (string | undefined)[]): void {
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
    expect(firsts, `first attempts of ${task}`).toEqual(
      types.filter((type) => type !== "task_progress" || firsts.includes(type)),
    );
    const missing = keys.filter((key) => !accepted.has(key) && !key.includes("task_progress"));
    expect(missing, `events of ${task} that never arrived`).toEqual([]);
  }
}

const paths = Array.from({ length: webhooks }, (_, index) => `/${index}`);

describe.each(
  isFull ? databaseKinds : (["sqlite"] as const),
)("webhooks of a server that is killed again and again (%s)", (kind) => {
  test.skipIf(kind === "postgresql" && postgresTemplate === undefined)(
    "receive every acknowledged task at least once, with the same id and body each time, first attempts in order",
    async () => {
      await using hook = await failing();
      await using lives = await openProcesses(kind);
      const begun = performance.now();
      let server = await lives.start();
      const key = await lives.key();
      for (const path of paths) {
        const { body } = await userOf(server, key).call("webhook.create", {
          url: hook.url + path,
          event_types: types,
        });
        expect(body).toMatchObject({ ok: true });
      }
      const random = seededRandom(`webhooks of ${kind}`);
      const ids: (string | undefined)[] = Array.from({ length: tasks }, () => undefined);
      let left = 0;
      for (let kill = 1; kill <= kills; kill += 1) {
        const creating = createAll(server, key, ids, Math.ceil((tasks / kills) * kill));
        left += await killAmid(server, lives, hook.seen, random);
        await creating;
        // Interrupted deliveries are due again, and so are the retries of the first minutes; progress events
        // are too old then.
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
      const eventCount = await countOf(lives.database, "webhook_event");
      const seconds = Math.round((performance.now() - begun) / 1000);
      console.info(
        `${kind}: ${kills} kills in ${seconds} s, ${tasks} tasks, ${eventCount} events for ${webhooks} webhooks each, ` +
          `${hook.seen.length} requests, ${hook.seen.length - accepted.length} of them failed, ${different} deliveries accepted, ` +
          `${accepted.length - different} duplicates of them`,
      );
    },
    60_000 + kills * 30_000,
  );
});
