import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Person, type Service } from "../../support/service.ts";
import { quarterPast, stillClock } from "../../support/still-clock.ts";
import { tokenOf } from "../../support/token.ts";
import { refusal, v1Of, v1With } from "./caller.ts";

describe("the caller of v1", () => {
  let service: Service;
  let ann: Person;
  let bo: Person;
  beforeAll(async () => {
    service = await openService({ idle: true });
    [ann, bo] = [await service.person(), await service.person()];
    await v1Of(service, ann)("POST /v1/projects", { name: "Ann's" });
    await v1Of(service, bo)("POST /v1/projects", { name: "Bo's" });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** The owner of the listed projects, or the refusal's status and code. */
  const outcomeWith = async (headers: Readonly<Record<string, string>>) => {
    const { status, body } = await v1With(service, headers)("GET /v1/projects");
    return status === 200
      ? body.data.map(({ name }: { name: string }) => name).join()
      : `${status} ${body.code}`;
  };

  test.each<[what: string, headers: () => Record<string, string>, who: string]>([
    ["API_KEY", () => ({ API_KEY: ann.key }), "Ann's"],
    ["api_key, as Node spells it", () => ({ api_key: ann.key }), "Ann's"],
    [
      "API_KEY and the SDK's placeholder",
      () => ({ API_KEY: ann.key, Authorization: "Bearer placeholder" }),
      "Ann's",
    ],
    ["API_KEY and an empty Bearer", () => ({ API_KEY: ann.key, Authorization: "Bearer " }), "Ann's"],
    ["API_KEY and another scheme", () => ({ API_KEY: ann.key, Authorization: "Basic YTpi" }), "Ann's"],
    ["x-service-api-key", () => ({ "x-service-api-key": ann.key }), "Ann's"],
    ["x-manus-api-key", () => ({ "x-manus-api-key": ann.key }), "Ann's"],
    ["X-API-Key", () => ({ "X-API-Key": ann.key }), "Ann's"],
    ["the same key in two headers", () => ({ API_KEY: ann.key, "x-api-key": ann.key }), "Ann's"],
    ["two keys, of which API_KEY counts", () => ({ API_KEY: ann.key, "x-api-key": bo.key }), "Ann's"],
    ["a bad API_KEY and a good key", () => ({ API_KEY: "sk-nobody", "x-api-key": bo.key }), "401 16"],
    [
      "API_KEY and the key of another vendor",
      () => ({ API_KEY: ann.key, Authorization: "Bearer sk-proj-abc" }),
      "Ann's",
    ],
    [
      "API_KEY and another key of this service",
      () => ({ API_KEY: ann.key, Authorization: `Bearer ${bo.key}` }),
      "Ann's",
    ],
    [
      "x-api-key and another key of this service",
      () => ({ "x-api-key": ann.key, Authorization: `Bearer ${bo.key}` }),
      "Ann's",
    ],
    [
      "a bad API_KEY and a good key behind Bearer",
      () => ({ API_KEY: "sk-nobody", Authorization: `Bearer ${bo.key}` }),
      "401 16",
    ],
    ["a key behind Bearer alone", () => ({ Authorization: `Bearer ${ann.key}` }), "Ann's"],
    [
      "a key behind Bearer and an empty API_KEY",
      () => ({ API_KEY: "", Authorization: `Bearer ${ann.key}` }),
      "Ann's",
    ],
    [
      "the key of another vendor behind Bearer alone",
      () => ({ Authorization: "Bearer sk-proj-abc" }),
      "401 16",
    ],
    ["a placeholder behind Bearer alone", () => ({ Authorization: "Bearer placeholder" }), "401 16"],
    ["no key", () => ({}), "401 16"],
    ["an empty API_KEY", () => ({ API_KEY: "" }), "401 16"],
    ["a key that is none", () => ({ API_KEY: "ann" }), "401 16"],
  ])("with %s", async (_, headers, who) => {
    expect(await outcomeWith(headers())).toBe(who);
  });

  test("an OAuth token grants no access to v1, alone or with a key of another account", async () => {
    const { headers } = await tokenOf(service, ann, { scopes: ["manage_all_tasks"] });
    expect(await outcomeWith(headers)).toBe("401 16");
    expect(await outcomeWith({ ...headers, API_KEY: bo.key })).toBe("Bo's");
  });

  test("a browser's session grants no access either", async () => {
    const { headers } = await ann.session();
    expect(await outcomeWith(headers)).toBe("401 16");
  });

  test("refuses a key of another kind as forbidden, with v1's code", async () => {
    const { key } = await service.person({ kind: "siem" });
    expect(await v1With(service, { API_KEY: key })("GET /v1/projects")).toMatchObject({
      status: 403,
      body: refusal(7, /./),
    });
  });
});

describe("the limits of v1", () => {
  test.each([
    ["POST /v1/tasks", { prompt: "x" }, "task.create", { message: { content: "x" } }],
    ["GET /v1/tasks", undefined, "task.list", {}],
    ["GET /v1/tasks/t", undefined, "task.detail", { task_id: "t" }],
    ["PUT /v1/tasks/t", {}, "task.update", { task_id: "t" }],
    ["DELETE /v1/tasks/t", undefined, "task.delete", { task_id: "t" }],
    ["POST /v1/projects", { name: "p" }, "project.create", { name: "p" }],
    ["GET /v1/files/f", undefined, "file.detail", { file_id: "f" }],
  ])("%s with %j counts as %s, and past the limit answers 429 with Retry-After in whole seconds", async (at, body, name, v2Body) => {
    await using service = await openService({
      idle: true,
      clock: stillClock(quarterPast),
      env: { RATE_LIMITS: "0.001" },
    });
    const person = await service.person();
    const first = await person.v2(name, v2Body);
    expect(first.headers.get("ratelimit-remaining")).toBe("0");
    const { status, headers, body: refused } = await v1Of(service, person)(at, body);
    expect({ status, body: refused }).toEqual({ status: 429, body: refusal(8, /rate limit/) });
    const limitHeaders = ["retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map(
      (header) => headers.get(header),
    );
    expect(limitHeaders).toEqual(["45", "1", "0", "45"]);
  });

  test("are reported on successful calls too", async () => {
    await using service = await openService({
      idle: true,
      clock: stillClock(quarterPast),
      env: { RATE_LIMITS: "default" },
    });
    const call = v1Of(service, await service.person());
    const limits = await Promise.all(
      [
        call("POST /v1/tasks", { prompt: "x" }),
        call("GET /v1/tasks"),
        call("POST /v1/files", { filename: "a.txt" }),
      ].map(async (reply) => (await reply).headers.get("ratelimit-limit")),
    );
    expect(limits).toEqual(["10", "100", "40"]);
  });

  test("a body over the limit is refused in v1's form", async () => {
    await using service = await openService({ idle: true, env: { BODY_LIMIT: "65536" } });
    const call = v1Of(service, await service.person());
    expect(await call("POST /v1/tasks", { prompt: "a".repeat(65_536) })).toMatchObject({
      status: 413,
      body: refusal(3, /^the body is larger than 65536 bytes, the limit of task.create$/),
    });
  });
});
