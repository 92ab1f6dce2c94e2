import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient, type TaskEvent } from "../../packages/client/src/index.ts";
import { sample } from "../support/depth.ts";
import { taskRig } from "../support/task-rig.ts";
import { type Fault, type FaultyNetwork, openFaultyNetwork } from "./faulty-network.ts";

const rig = taskRig();
let network: FaultyNetwork;
/** The pauses between attempts, in milliseconds. */
const pauses: number[] = [];
beforeAll(async () => {
  network = await openFaultyNetwork(() => rig.service.url);
});
afterEach(() => {
  network.faults.length = 0;
  network.seen.length = 0;
  pauses.length = 0;
});
afterAll(async () => network[Symbol.asyncDispose]());

const clientWith = (more: object = {}): Client =>
  createClient({ baseUrl: network.url, apiKey: rig.ann.key, sleep: async (ms) => void pauses.push(ms), ...more });
const projectsNamed = async (name: string) => (await clientWith().projects.list()).data.filter((project) => project.name === name).length;

describe("a change whose answer is lost", () => {
  const unavailable = {
    status: 503,
    headers: { "retry-after": "7" },
    body: '{"ok":false,"error":{"code":"unavailable","message":"stopping"}}',
  };
  const limited = {
    status: 429,
    headers: { "retry-after": "3" },
    body: '{"ok":false,"error":{"code":"rate_limited","message":"too many"}}',
  };
  const cases: readonly (readonly [string, readonly Fault[], readonly unknown[]])[] = [
    ["a cut before the server has it", ["cut before"], [expect.any(Number)]],
    ["a cut after the server has done it", ["cut after", "cut after"], [expect.any(Number), expect.any(Number)]],
    ["half an answer", ["half an answer"], [expect.any(Number)]],
    ["an answer that ends too early", [{ status: 200, body: '{"ok":true,"project":{"id"' }], [expect.any(Number)]],
    ["503 with Retry-After", [unavailable], [7000]],
    ["429 with Retry-After, then a cut", [limited, "cut after"], [3000, expect.any(Number)]],
    ["502 of a proxy", [{ status: 502, body: "<html>Bad gateway</html>" }], [expect.any(Number)]],
    ["an answer byte by byte", ["byte by byte"], []],
  ];
  test.each(cases)("happens once, with one key: %s", async (name, faults, waited) => {
    network.faults.push(...faults);
    const { project } = await clientWith().projects.create({ name });
    expect(project.name).toBe(name);
    expect(pauses).toEqual(waited);
    const keys = network.seen.map(({ key }) => key);
    expect(keys).toHaveLength(waited.length + 1);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(await projectsNamed(name)).toBe(1);
  });

  test("has the key that the caller chose, and a read has none", async () => {
    await clientWith().projects.create({ name: "keyed" }, { idempotencyKey: "mine" });
    await clientWith().projects.create({ name: "keyed" }, { idempotencyKey: "mine" });
    expect(await projectsNamed("keyed")).toBe(1);
    expect(network.seen.map(({ key }) => key)).toEqual(["mine", "mine", undefined]);
  });
});

describe("a call that cannot succeed", () => {
  test("fails with the connection's error after its attempts", async () => {
    network.faults.push("cut before", "cut before", "cut before");
    await expect(clientWith({ retries: 2 }).users.me()).rejects.toMatchObject({
      name: "ConnectionError",
      message: expect.stringContaining("user.me"),
    });
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThanOrEqual(500);
  });

  test("is not repeated for a refusal, a used up quota, or a longer Retry-After than is waited for", async () => {
    const exhausted = {
      status: 429,
      body: '{"ok":false,"request_id":"req_1","error":{"code":"resource_exhausted","message":"storage is full"}}',
    };
    network.faults.push(exhausted, { status: 503, headers: { "retry-after": "3600" } });
    await expect(clientWith().users.me()).rejects.toMatchObject({ name: "ResourceExhaustedError", requestId: "req_1" });
    await expect(clientWith().users.me()).rejects.toMatchObject({ name: "UnavailableError", retryAfter: 3600 });
    await expect(clientWith().call("task.detail", { task_id: "" })).rejects.toMatchObject({ param: "task_id" });
    expect(pauses).toEqual([]);
  });

  test("ends at its time limit, and when its signal is aborted", async () => {
    const held = new AbortController();
    const { id } = await clientWith().tasks.create({ message: "[[forever]]" });
    const watched = clientWith().call("task.detail", { task_id: id, wait_seconds: 30 }, { timeoutMs: 20, retries: 0 });
    await expect(watched).rejects.toMatchObject({ name: "TimeoutError" });
    const aborted = clientWith().call("task.detail", { task_id: id, wait_seconds: 30 }, { signal: held.signal });
    held.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    await rig.ann.v2("task.stop", { task_id: id });
  });
});

describe("a watch", () => {
  /** Every event of a task of some steps, over a network with these faults. */
  async function watched(id: string, faults: readonly Fault[]): Promise<TaskEvent[]> {
    network.faults.push(...faults);
    const events: TaskEvent[] = [];
    for await (const event of clientWith().tasks.watch(id, { untilSettled: true, deltas: true }))
      if (event.type !== "text_delta") events.push(event);
    return events;
  }

  test("has every event once and in order, at any byte at which its streams are cut", { timeout: 120_000 }, async () => {
    const id = await rig.runToEnd("Compare the prices of tea and coffee, and explain the difference.");
    const expected = await rig.events(id);
    const fault: fc.Arbitrary<Fault> = fc.oneof(
      fc.integer({ min: 0, max: 6000 }).map((bytes) => ({ bytes })),
      fc.constantFrom<Fault>("cut before", "half an answer", { status: 503 }, { status: 429, headers: { "retry-after": "1" } }),
    );
    const property = fc.asyncProperty(fc.array(fault, { maxLength: 9 }), async (faults) => {
      network.faults.length = 0;
      expect(await watched(id, faults)).toEqual(expected);
    });
    await fc.assert(property, { numRuns: sample(300, 25) });
  });

  test("asks for the events after the last one that it has", async () => {
    const id = await rig.runToEnd("[[say one]] [[say two]]");
    const events = await watched(id, [{ bytes: 900 }]);
    const asked = network.seen.map(({ body }) => JSON.parse(body).after_seq);
    expect(asked[0]).toBe(0);
    expect(asked[1]).toBeGreaterThan(0);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  test("fails when the task is unknown, when it is deleted, and after too many lost connections", async () => {
    await expect(clientWith().tasks.watch("nothing").next()).rejects.toMatchObject({ name: "NotFoundError" });
    const id = await rig.runToEnd("[[say Hello]]");
    const watching = clientWith().tasks.watch(id);
    await watching.next();
    await rig.ann.v2("task.delete", { task_id: id });
    const rest = (async () => {
      for await (const _ of watching);
    })();
    await expect(rest).rejects.toMatchObject({ name: "NotFoundError", operation: "task.watch" });
    network.faults.push("cut before", "cut before", "cut before");
    await expect(clientWith().tasks.watch(id, { retries: 2 }).next()).rejects.toMatchObject({ name: "ConnectionError" });
  });

  test("closes its connection when the loop is left", async () => {
    const id = await rig.create("[[forever]]");
    for await (const event of clientWith().tasks.watch(id)) if (event.type === "status_update") break;
    await rig.ann.v2("task.stop", { task_id: id });
    expect(network.seen).toHaveLength(1);
  });
});
