import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient, type TaskEvent } from "../../packages/client/src/index.ts";
import { sample } from "../support/depth.ts";
import { taskRig } from "../support/task-rig.ts";
import { type Fault, type FaultyNetwork, openFaultyNetwork } from "./faulty-network.ts";
import { type ConformingClient, languages } from "./languages.ts";

const rig = taskRig();
const { all, close } = languages();
let network: FaultyNetwork;
beforeAll(async () => {
  network = await openFaultyNetwork(() => rig.service.url);
});
afterEach(() => {
  network.faults.length = 0;
  network.seen.length = 0;
});
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  await close();
});

const isPause = expect.any(Number);

describe.each(all.filter(({ isMissing }) => !isMissing))("$name:", ({ name: language, open }) => {
  const clientWith = (more: { readonly retries?: number } = {}): Promise<ConformingClient> =>
    open({ baseUrl: network.url, apiKey: rig.ann.key, ...more });
  async function projectsNamed(name: string): Promise<number> {
    const { data } = await (await clientWith()).call("project.list", {});
    return JSON.stringify(data).split(JSON.stringify(name)).length - 1;
  }

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
      ["a cut before the server has it", ["cut before"], [isPause]],
      ["a cut after the server has done it", ["cut after", "cut after"], [isPause, isPause]],
      ["half an answer", ["half an answer"], [isPause]],
      ["an answer that ends too early", [{ status: 200, body: '{"ok":true,"project":{"id"' }], [isPause]],
      ["503 with Retry-After", [unavailable], [7000]],
      ["429 with Retry-After, then a cut", [limited, "cut after"], [3000, isPause]],
      ["502 of a proxy", [{ status: 502, body: "<html>Bad gateway</html>" }], [isPause]],
      ["an answer byte by byte", ["byte by byte"], []],
    ];
    test.each(cases)("happens once, with one key: %s", async (about, faults, waited) => {
      const name = `${about}, ${language}`;
      network.faults.push(...faults);
      const client = await clientWith();
      expect(await client.call("project.create", { name })).toMatchObject({ project: { name } });
      expect(await client.pauses()).toEqual(waited);
      const keys = network.seen.map(({ key }) => key);
      expect(keys).toHaveLength(waited.length + 1);
      expect(new Set(keys).size).toBe(1);
      expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(await projectsNamed(name)).toBe(1);
    });

    test("has the key that the caller chose, and a read has none", async () => {
      const [name, idempotencyKey] = [`keyed, ${language}`, `mine-${language.replaceAll(" ", "-")}`];
      await (await clientWith()).call("project.create", { name }, { idempotencyKey });
      await (await clientWith()).call("project.create", { name }, { idempotencyKey });
      expect(await projectsNamed(name)).toBe(1);
      expect(network.seen.map(({ key }) => key)).toEqual([idempotencyKey, idempotencyKey, undefined]);
    });
  });

  describe("a call that cannot succeed", () => {
    test("fails with the connection's error after its attempts", async () => {
      network.faults.push("cut before", "cut before", "cut before");
      const client = await clientWith({ retries: 2 });
      await expect(client.call("user.me", {})).rejects.toMatchObject({
        name: "ConnectionError",
        message: expect.stringContaining("user.me"),
      });
      const pauses = await client.pauses();
      expect(pauses).toHaveLength(2);
      expect(pauses[1]).toBeGreaterThanOrEqual(500);
    });

    test("is not repeated for a refusal, a used up quota, or a longer Retry-After than is waited for", async () => {
      const exhausted = {
        status: 429,
        body: '{"ok":false,"request_id":"req_1","error":{"code":"resource_exhausted","message":"storage is full"}}',
      };
      network.faults.push(exhausted, { status: 503, headers: { "retry-after": "3600" } });
      const client = await clientWith();
      await expect(client.call("user.me", {})).rejects.toMatchObject({
        name: "ResourceExhaustedError",
        requestId: "req_1",
      });
      await expect(client.call("user.me", {})).rejects.toMatchObject({
        name: "UnavailableError",
        retryAfter: 3600,
      });
      await expect(client.call("task.detail", { task_id: "" })).rejects.toMatchObject({
        name: "InvalidArgumentError",
        param: "task_id",
      });
      expect(await client.pauses()).toEqual([]);
    });

    test("follows no redirect: the credential goes to the address of the client only", async () => {
      network.faults.push({ status: 307, headers: { location: `${network.url}/elsewhere` } });
      await expect((await clientWith({ retries: 0 })).call("user.me", {})).rejects.toThrow(
        /redirect|HTTP 307/,
      );
      expect(network.seen).toHaveLength(1);
    });

    test("ends at its time limit", async () => {
      const id = await rig.create("[[forever]]");
      const held = (await clientWith()).call(
        "task.detail",
        { task_id: id, wait_seconds: 30 },
        { timeoutMs: 20, retries: 0 },
      );
      await expect(held).rejects.toMatchObject({
        name: "TimeoutError",
        message: "no answer within ".concat(language === "TypeScript" ? "20 ms" : "0.02 s", ": task.detail"),
      });
      await rig.ann.v2("task.stop", { task_id: id });
    });
  });

  describe("a watch", () => {
    /** Every event of a task of some steps, over a network with these faults. */
    async function watched(id: string, faults: readonly Fault[]): Promise<TaskEvent[]> {
      network.faults.push(...faults);
      const events = await (await clientWith()).watch(id, { untilSettled: true, deltas: true });
      return events.flatMap((event) => (event.type === "text_delta" ? [] : [event]));
    }

    test("has every event once and in order, at any byte at which its streams are cut", {
      timeout: 120_000,
    }, async () => {
      const id = await rig.runToEnd("Compare the prices of tea and coffee, and explain the difference.");
      const expected = await rig.events(id);
      const fault: fc.Arbitrary<Fault> = fc.oneof(
        fc.integer({ min: 0, max: 6000 }).map((bytes) => ({ bytes })),
        fc.constantFrom<Fault>(
          "cut before",
          "half an answer",
          { status: 503 },
          { status: 429, headers: { "retry-after": "1" } },
        ),
      );
      const property = fc.asyncProperty(fc.array(fault, { maxLength: 9 }), async (faults) => {
        network.faults.length = 0;
        expect(await watched(id, faults)).toEqual(expected);
      });
      await fc.assert(property, { numRuns: sample(300, language === "TypeScript" ? 25 : 8) });
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
      await expect((await clientWith()).watch("nothing")).rejects.toMatchObject({ name: "NotFoundError" });
      const id = await rig.create("[[forever]]");
      const watching = (await clientWith()).watch(id);
      await expect.poll(() => network.seen.length).toBe(2);
      await rig.ann.v2("task.delete", { task_id: id, stop: true });
      await expect(watching).rejects.toMatchObject({ name: "NotFoundError", operation: "task.watch" });
      network.faults.push("cut before", "cut before", "cut before");
      await expect((await clientWith()).watch(id, { retries: 2 })).rejects.toMatchObject({
        name: "ConnectionError",
      });
    });

    test("closes its connection when the loop is left", async () => {
      const id = await rig.create("[[forever]]");
      expect(await (await clientWith()).watch(id, { most: 1 })).toHaveLength(1);
      await expect.poll(() => network.open).toBe(0);
      await rig.ann.v2("task.stop", { task_id: id });
      expect(network.seen).toHaveLength(1);
    });
  });
});

test("TypeScript: a call ends when its signal is aborted", async () => {
  const id = await rig.create("[[forever]]");
  const held = new AbortController();
  const client = createClient({ baseUrl: network.url, apiKey: rig.ann.key });
  const aborted = client.call("task.detail", { task_id: id, wait_seconds: 30 }, { signal: held.signal });
  held.abort(new Error("left"));
  await expect(aborted).rejects.toThrow("left");
  await rig.ann.v2("task.stop", { task_id: id });
});
