import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { send } from "./raw.ts";

let service: Service;
let ann: Person;
let bob: Person;
let taskId: string;

beforeAll(async () => {
  service = await openService({ idle: true, clock: stillClock(), env: { RATE_LIMITS: "1" } });
  ann = await service.person();
  bob = await service.person({ with: ann });
  taskId = (await ann.v2("task.create", { message: { content: "A long message. ".repeat(200) } })).body[
    "task_id"
  ];
  await ann.v2("project.create", { name: "Garden" });
});
afterAll(() => service[Symbol.asyncDispose]());

const at = (path: string) => `${service.url}${path}`;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  send(at(path), { method, headers: { ...ann.headers, ...headers } });

describe("a compressed answer", () => {
  test.each([
    "gzip",
    "br",
  ])("is sent in %s to a client that accepts it, and is the same answer", async (coding) => {
    const path = `/v2/task.listMessages?task_id=${taskId}`;
    const [plain, compressed] = [await get(path), await get(path, { "accept-encoding": coding })];
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(compressed.headers.get("content-encoding")).toBe(coding);
    expect(compressed.headers.get("vary")).toContain("Accept-Encoding");
    expect(Number(compressed.headers.get("content-length"))).toBeLessThan(plain.bytes.length / 4);
    const received = await fetch(at(path), { headers: { ...ann.headers, "accept-encoding": coding } });
    expect(await received.json()).toMatchObject({ ok: true, messages: plain.json()["messages"] });
  });

  test("is not sent for a short answer, a refusal, or a stream", async () => {
    const accepting = { "accept-encoding": "gzip, br" };
    expect((await get("/v2/project.list", accepting)).headers.get("content-encoding")).toBeNull();
    expect(
      (await get(`/v2/task.detail?task_id=${"x".repeat(2000)}`, accepting)).headers.get("content-encoding"),
    ).toBeNull();
    const stream = await fetch(at(`/v2/task.watch?task_id=${taskId}`), {
      headers: { ...ann.headers, ...accepting },
    });
    const first = await stream.body?.getReader().read();
    expect(stream.headers.get("content-encoding")).toBeNull();
    expect(Buffer.from(first?.value ?? "").toString()).toMatch(/^:/);
  });

  test("is sent by v1 too", async () => {
    const reply = await send(at(`/v1/tasks/${taskId}`), {
      method: "GET",
      headers: { api_key: ann.key, "accept-encoding": "br" },
    });
    expect(reply.headers.get("content-encoding")).toBe("br");
  });
});

// spec/decisions.md 106
describe("the ETag of a read", () => {
  test("answers 304 without a body until something changes, with the rate and a new request id", async () => {
    const first = await get("/v2/project.list");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
    expect(first.headers.get("cache-control")).toBe("private, no-cache");
    expect(first.headers.get("vary")).toContain("Authorization, X-Service-API-Key");
    const again = await get("/v2/project.list", { "if-none-match": `"other", ${etag}` });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(Number(again.headers.get("ratelimit-remaining"))).toBe(
      Number(first.headers.get("ratelimit-remaining")) - 1,
    );
    await ann.v2("project.create", { name: "Kitchen" });
    expect((await get("/v2/project.list", { "if-none-match": etag })).status).toBe(200);
  });

  test("is the same in every coding", async () => {
    const path = `/v2/task.listMessages?task_id=${taskId}`;
    const [plain, compressed] = [await get(path), await get(path, { "accept-encoding": "br" })];
    expect(compressed.headers.get("etag")).toBe(plain.headers.get("etag"));
  });

  test("gives nothing to a caller who is not admitted", async () => {
    const etag = (await get("/v2/project.list")).headers.get("etag") ?? "";
    const reply = await get("/v2/project.list", { "x-service-api-key": "sk-wrong", "if-none-match": etag });
    expect([reply.status, reply.headers.get("cache-control"), reply.headers.get("etag")]).toEqual([
      401,
      "no-store",
      null,
    ]);
    expect(
      (await get("/v2/project.list", { "x-service-api-key": "sk-wrong", "if-none-match": "*" })).status,
    ).toBe(401);
  });

  test("differs for another caller and another operation with an equal answer", async () => {
    const etagFor = async (path: string, headers: Record<string, string>) =>
      (await get(path, headers)).headers.get("etag");
    const [mine, others] = [
      await etagFor("/v2/webhook.list", ann.headers),
      await etagFor("/v2/webhook.list", bob.headers),
    ];
    expect(mine).not.toBe(others);
    expect(await etagFor("/v2/browser.onlineList", ann.headers)).not.toBe(mine);
  });

  test("belongs to GET alone: a POST of the same operation is not stored, and has no ETag", async () => {
    const reply = await send(at("/v2/project.list"), {
      headers: { ...ann.headers, "if-none-match": "*" },
      body: "{}",
    });
    expect([reply.status, reply.headers.get("cache-control"), reply.headers.get("etag")]).toEqual([
      200,
      "no-store",
      null,
    ]);
  });

  test("is absent from an answer with a secret", async () => {
    const reply = await get(`/v2/task.watchUrl?task_id=${taskId}`, { "accept-encoding": "gzip" });
    expect([reply.status, reply.headers.get("cache-control"), reply.headers.get("etag")]).toEqual([
      200,
      "no-store",
      null,
    ]);
  });
});

describe("HEAD", () => {
  test.each([
    "/v2/project.list",
    "/v2/user.me",
    "/v2/task.list",
  ])("of %s has the head of GET, and no body", async (path) => {
    const [head, whole] = [await get(path, {}, "HEAD"), await get(path)];
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const name of ["content-type", "content-length", "etag", "cache-control", "vary"]) {
      expect(head.headers.get(name), name).toBe(whole.headers.get(name));
    }
  });

  test("of a stream ends with its head, and holds no stream", async () => {
    const path = `/v2/task.watch?task_id=${taskId}`;
    for (let n = 0; n < 10; n++) {
      const head = await get(path, {}, "HEAD");
      expect([head.status, head.text, head.headers.get("content-type")]).toEqual([
        200,
        "",
        "text/event-stream; charset=utf-8",
      ]);
    }
    expect((await get("/v2/task.watch?task_id=none", {}, "HEAD")).status).toBe(404);
  });

  test("of a v1 address, and of the audit log, works as GET does", async () => {
    expect((await get(`/v1/tasks/${taskId}`, { api_key: ann.key }, "HEAD")).status).toBe(200);
    expect((await get("/v2/audit.download", {}, "HEAD")).status).toBe(200);
  });

  test("of a change is refused", async () => {
    const head = await get("/v2/task.create", {}, "HEAD");
    expect([head.status, head.headers.get("allow")]).toEqual([405, "POST"]);
  });
});
