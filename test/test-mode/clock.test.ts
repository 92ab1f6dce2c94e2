import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAdvance } from "../../src/modules/test-mode/advance.ts";
import { createTestClock } from "../../src/modules/test-mode/clock.ts";
import type { TestState } from "../../src/modules/test-mode/state.ts";
import { openReceiver } from "./receiver.ts";
import { startTestMode, type TestModeServer } from "./rig.ts";

const start = Date.parse("2030-01-01T00:00:00Z");
const day = 86_400;
let server: TestModeServer;
beforeAll(async () => {
  server = await startTestMode({ seed: "clock", at: start });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => void (await server.v2("test.reset")));

const ok = async (name: string, body: unknown = {}) => {
  const reply = await server.v2(name, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const create = (content: string, more = {}) => ok("task.create", { message: { content }, ...more });
const statusOf = async (task_id: string) => (await ok("task.detail", { task_id }))["task"].status;
const seconds = Math.floor(start / 1000);

test("the clock begins at the given time, and answers carry its date", async () => {
  const { now } = await ok("test.clock.read");
  expect(now - seconds).toBeLessThan(60);
  const reply = await server.v2("test.clock.advance", { seconds: day });
  expect(reply.body["now"] - now).toBeGreaterThanOrEqual(day);
  expect(Date.parse(reply.headers.get("date") ?? "") / 1000 - seconds).toBeGreaterThanOrEqual(day - 1);
});

test("a run that sleeps ends at its time, and the events after it have that time", async () => {
  const { task_id } = await create("[[sleep 3600]] [[say Done.]]");
  await ok("test.clock.advance", { seconds: 1800 });
  expect(await statusOf(task_id)).toBe("running");
  await ok("test.clock.advance", { seconds: 7200 });
  const { task } = await ok("task.detail", { task_id });
  expect([task.status, Math.round((task.updated_at - task.created_at) / 60)]).toEqual(["stopped", 60]);
});

test("schedules create each of their tasks at its due time, and the run of one ends before the next begins", async () => {
  const task = { message: { content: "[[sleep 600]] [[say Tick.]]" } };
  await ok("schedule.create", { schedule: { name: "Hourly", task, cron: "0 * * * *", time_zone: "UTC" } });
  const { now } = await ok("test.clock.advance", { to: seconds + 3 * 3600 + 1200 });
  const { data } = await ok("task.list", { order: "asc" });
  expect(data.map((task: { created_at: number }) => (task.created_at - seconds) / 3600)).toEqual([1, 2, 3]);
  // The seconds of both times are whole.
  for (const { updated_at, created_at } of data) expect(updated_at - created_at).toBeGreaterThanOrEqual(599);
  expect(now).toBeGreaterThanOrEqual(seconds + 3 * 3600 + 1200);
});

test("an approval waits for months, and is then decided", async () => {
  const { task_id } = await create("[[confirm gmailSendAction]] [[say Sent.]]");
  await ok("test.clock.advance", { seconds: 90 * day });
  expect(await statusOf(task_id)).toBe("waiting");
});

test.each([
  [{}, "set either seconds or to"],
  [{ seconds: 1, to: seconds + day }, "set either seconds or to"],
  [{ seconds: 400 * day + 1 }, "34560000"],
  [{ to: seconds - 1 }, "moves forward only"],
  [{ to: seconds + 401 * day }, "at most 400 days"],
])("the clock refuses to move by %j", async (body, message) => {
  expect(await server.v2("test.clock.advance", body)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining(message) } },
  });
});

test("three days of webhook repeats come in order, at their times, within one call", async () => {
  using receiver = await openReceiver();
  await ok("webhook.create", { url: receiver.url });
  receiver.status = 500;
  await create("Hello.");
  await ok("test.clock.advance", { seconds: 1 });
  receiver.received.splice(0);
  await ok("test.clock.advance", { seconds: 3 * day });
  const { received } = receiver;
  expect(received.length).toBeGreaterThan(4);
  expect(received.map(({ at }) => at)).toEqual(received.map(({ at }) => at).toSorted((a, b) => a - b));
  expect((received.at(-1)?.at ?? 0) - (received[0]?.at ?? 0)).toBeGreaterThan(day);
});

test("a second call that moves the clock is refused while one does", async () => {
  const calls = await Promise.all(
    [1, 2, 3].map(() => server.v2("test.clock.advance", { seconds: 100 * day })),
  );
  expect(calls.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
});

test("an idempotency key is forgotten after its window", async () => {
  const send = () =>
    server.v2("task.create", { message: { content: "Once." } }, { headers: { "Idempotency-Key": "window" } });
  const first = await send();
  await ok("test.clock.advance", { seconds: 23 * 3600 });
  expect((await send()).body["task_id"]).toBe(first.body["task_id"]);
  await ok("test.clock.advance", { seconds: 2 * 3600 });
  expect((await send()).body["task_id"]).not.toBe(first.body["task_id"]);
});

test("an upload in progress is not lost when the clock moves past its lease", async () => {
  const { file, upload_url } = await ok("file.upload", { filename: "a.txt" });
  const answer = new Promise<number>((resolve, reject) => {
    const sent = request(upload_url, { method: "PUT", headers: { "content-length": "10" } }, (reply) =>
      resolve(reply.resume().statusCode ?? 0),
    );
    sent.on("error", reject).write("01234");
    // The server has begun to write once it has a row of the bytes.
    void server
      .v2("test.clock.read")
      .then(() => server.v2("test.clock.advance", { seconds: 7200 }))
      .then(() => sent.end("56789"));
  });
  expect(await answer).toBe(200);
  expect((await ok("file.detail", { file_id: file.id }))["file"]).toMatchObject({ status: "uploaded" });
});

test("what is active for a minute is named, and the clock has the time that it had", async () => {
  let passed = 0;
  const clock = { ...createTestClock({ at: start, isStill: true }), monotonic: () => (passed += 10_000) };
  const state: Pick<TestState, "active" | "nextDue" | "extendLeases"> = {
    active: () => ["run of a", "delivery b"],
    nextDue: () => null,
    extendLeases: () => expect.unreachable(),
  };
  await expect(createAdvance(clock, state, () => 0).by(1000)).rejects.toThrow(
    "2030-01-01T00:00:00.000Z: after 60 s still active: run of a, delivery b",
  );
  expect(clock.now()).toBe(start);
});
