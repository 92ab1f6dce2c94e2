import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sweepWorkerRuns } from "../../src/runtime/remote/held-run.ts";
import { rowsIn } from "../support/database.ts";
import { createWorker, explain } from "../workers/worker-rig.ts";
import { startTestMode, type TestModeServer } from "./rig.ts";

const day = 86_400;
let server: TestModeServer;
beforeAll(async () => {
  server = await startTestMode(
    { at: Date.parse("2030-01-15T12:00:00Z") },
    { AGENT_PROFILES: "manus-1.6-lite=remote" },
  );
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => void (await server.v2("test.reset")));

async function ok(name: string, body: unknown = {}) {
  const reply = await server.v2(name, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
}

test("a change that is open when the clock moves does not fail the call", async () => {
  const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = server.store.change(async (tx) => {
    await tx.settings.put("test", "1");
    begun.resolve();
    await mayEnd.promise;
  });
  await begun.promise;
  const moved = server.v2("test.clock.advance", { seconds: day });
  // The call has begun, and waits for the change.
  for (let reads = 0; reads < 100; reads += 1) await ok("test.clock.read");
  mayEnd.resolve();
  await change;
  expect(await moved).toMatchObject({ status: 200 });
});

/** Calls sequentially until the clock has been moved. */
async function whileMoving(seconds: number, work: () => Promise<void>): Promise<void> {
  let isMoved = false;
  const moved = ok("test.clock.advance", { seconds }).finally(() => (isMoved = true));
  while (!isMoved) await work();
  await moved;
}

test("workers lose no run while the clock moves on by 400 days: it waits for each to end", async () => {
  const ann = await server.person();
  const worker = await createWorker(server, ann);
  const task = { message: { content: "Go." }, agent_profile: "manus-1.6-lite" };
  expect(
    await ann.v2("schedule.create", {
      schedule: { name: "Monthly", task, cron: "0 0 1 * *", time_zone: "UTC" },
    }),
  ).toMatchObject({
    status: 200,
  });
  const ends: unknown[] = [];
  const work = async () => {
    const run = await worker.poll({ waitSeconds: 1 });
    if (run === undefined) return;
    const { now } = await ok("test.clock.read");
    const { status } = await worker.append(run, [explain("a")]);
    // A clock that does not wait has the time to move.
    for (let reads = 0; reads < 20; reads += 1) await ok("test.clock.read");
    const passed = (await ok("test.clock.read"))["now"] - now;
    ends.push([
      run.claim,
      status,
      (await worker.finish(run, { finish: { content: "Done." } })).status,
      passed < 60 || passed,
    ]);
  };
  await whileMoving(400 * day, work);
  // A task may be queued when the clock has its time.
  while (ends.length < 13) await work();
  expect(ends).toEqual(Array.from({ length: 13 }, () => [1, 200, 200, true]));
});

test("a run whose claim is open when the clock moves is not offered again", async () => {
  const ann = await server.person();
  const worker = await createWorker(server, ann);
  const now = async () => Number((await ok("test.clock.read"))["now"]) * 1000;
  const start = await now();
  const [claimed, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { change } = server.store;
  const changes = vi.spyOn(server.store, "change").mockImplementation((work) =>
    change(async (tx) => {
      const done = await work(tx);
      if ((await tx.workerRuns.listOfWorker(worker.id)).length > 0) {
        claimed.resolve();
        await mayEnd.promise;
      }
      return done;
    }),
  );
  const polled = worker.pollUntilRun();
  await ann.v2("task.create", { message: { content: "Go." }, agent_profile: "manus-1.6-lite" });
  await claimed.promise;
  changes.mockRestore();
  const moved = server.v2("test.clock.advance", { seconds: day });
  // The call has begun.
  for (let reads = 0; reads < 20; reads += 1) await ok("test.clock.read");
  mayEnd.resolve();
  const run = await polled;
  await expect.poll(now, { timeout: 20_000 }).toBeGreaterThan(start + 3_600_000);
  const time = await now();
  await sweepWorkerRuns({ store: server.store, clock: { now: () => time } });
  const ends = [
    await worker.append(run, [explain("a")]),
    await worker.finish(run, { finish: { content: "Done." } }),
    await moved,
  ];
  expect(ends.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await worker.poll({ waitSeconds: 0 })).toBeUndefined();
});

test("a run, a stream and a held call outlast the moved clock", async () => {
  const waits = (
    await ok("task.create", { message: { content: "[[confirm gmailSendAction]] [[say Sent.]]" } })
  )["task_id"];
  const runs = (await ok("task.create", { message: { content: "[[sleep 86400]] [[say Slept.]]" } }))[
    "task_id"
  ];
  const ending = new AbortController();
  const stream = await fetch(`${server.url}/v2/task.watch`, {
    ...{
      method: "POST",
      headers: server.headers,
      body: JSON.stringify({ task_id: waits }),
      signal: ending.signal,
    },
  });
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const held = fetch(`${server.url}/v1/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify({ input: "[[sleep 7200]] [[say Held.]]" }),
  });
  await expect.poll(async () => (await ok("task.list", { limit: 10 }))["data"].length).toBe(3);
  await ok("test.clock.advance", { seconds: 400 * day });

  expect(await (await held).json()).toMatchObject({
    status: "completed",
    output: [{ content: [{ text: "Held." }] }],
  });
  expect(await rowsIn(server.databaseUrl, `SELECT status, claims FROM task WHERE id = '${runs}'`)).toEqual([
    { status: "stopped", claims: 1 },
  ]);
  const [, event_id] =
    /"waiting_for_event_id":"([^"]+)"/.exec(
      JSON.stringify(await ok("task.listMessages", { task_id: waits })),
    ) ?? [];
  await ok("task.confirmAction", { task_id: waits, event_id, input: { accept: true } });
  let seen = "";
  for await (const chunk of stream.body ?? []) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes('"agent_status":"stopped"')) break;
  }
  expect(seen).toContain("Sent.");
  ending.abort();
});
