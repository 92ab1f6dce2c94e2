import { describe, expect, test } from "vitest";
import { Failure, type Reason } from "../../../src/core/failure.ts";
import { v1Answers } from "../../../src/http/failure.ts";
import { openaiRefusal } from "../../../src/http/openai/refusal.ts";
import { openService } from "../../support/service.ts";
import { quarterPast, stillClock } from "../../support/still-clock.ts";
import { ofCall } from "../v1/caller.ts";
import { call, prefixes } from "./facade-rig.ts";

const addresses = [
  ["POST", "/responses"],
  ["GET", "/responses/nobody"],
  ["GET", "/responses/nobody?stream=true"],
  ["POST", "/responses/nobody/cancel"],
  ["DELETE", "/responses/nobody"],
  ["GET", "/responses/nobody/input_items"],
  ["GET", "/files/nobody/content"],
] as const;

describe.each(prefixes)("below %j", (prefix) => {
  test.each(
    addresses,
  )("%s %s is refused without a valid credential, for any text behind Bearer", async (method, path) => {
    await using service = await openService({ idle: true });
    for (const key of ["", "sk-wrong"]) {
      const { status, body } = await call(service.url, { key }, method, prefix + path);
      expect([status, body.code, body.error.type]).toEqual([401, 16, "authentication_error"]);
    }
  });

  test.each(
    addresses.slice(1),
  )("%s %s is absent where there is none, and where it is another's", async (method, path) => {
    await using service = await openService({ idle: true });
    const [ann, bo] = [await service.person(), await service.person()];
    const { body: made } = await call(service.url, bo, "POST", `${prefix}/responses`, { input: "Hi" });
    for (const id of ["nobody", made.id]) {
      const { status, body } = await call(service.url, ann, method, prefix + path.replace("nobody", id));
      const param = path.startsWith("/files") ? "file_id" : "response_id";
      expect(status).toBe(404);
      expect(body).toEqual({
        code: 5,
        message: expect.stringMatching(/^(task|file) not found$/),
        details: [],
        ...ofCall,
        error: { message: body.message, type: "not_found_error", param, code: "not_found" },
      });
    }
  });

  test.each([
    ["GET", "/responses", "POST", 405],
    ["PUT", "/responses/x", "GET, DELETE, HEAD", 405],
    ["GET", "/responses/x/cancel", "POST", 405],
    ["POST", "/responses/x/input_items", "GET, HEAD", 405],
    ["POST", "/files/x/content", "GET, HEAD", 405],
    ["GET", "/responses/x/nothing", null, 404],
    ["POST", "/responses/compact/x", null, 404],
  ])("%s %s states the methods that the address accepts, or that it does not exist", async (method, path, allow, status) => {
    await using service = await openService({ idle: true });
    const answer = await call(service.url, await service.person(), method, prefix + path);
    expect([answer.status, answer.headers.get("allow"), answer.body.code]).toEqual([
      status,
      allow,
      status === 405 ? 12 : 5,
    ]);
    expect(answer.body.error.type).toBe(status === 405 ? "invalid_request_error" : "not_found_error");
  });

  test.each([
    "x",
    "0",
    "101",
    "1.5",
  ])("input_items refuses limit=%s, another order, and an item that is none", async (limit) => {
    await using service = await openService({ idle: true });
    const ann = await service.person();
    const { body: made } = await call(service.url, ann, "POST", `${prefix}/responses`, { input: "Hi" });
    for (const [member, query] of Object.entries({ limit, order: "newest", after: "nobody" })) {
      const { status, body } = await call(
        service.url,
        ann,
        "GET",
        `${prefix}/responses/${made.id}/input_items?${member}=${query}`,
      );
      expect([status, body.error.param]).toEqual([400, member]);
    }
  });

  test("POST /responses counts as task.create, ten a minute, and says when to retry", async () => {
    await using service = await openService({
      idle: true,
      env: { RATE_LIMITS: "default" },
      clock: stillClock(quarterPast),
    });
    const ann = await service.person();
    const make = () => call(service.url, ann, "POST", `${prefix}/responses`, { input: "Hi" });
    for (let n = 0; n < 10; n += 1) expect((await make()).status).toBe(200);
    const { status, headers, body } = await make();
    expect([status, body.code, body.error.type, headers.get("retry-after")]).toEqual([
      429,
      8,
      "rate_limit_error",
      "45",
    ]);
    expect((await ann.v2("task.create", { message: { content: "Hi" } })).status).toBe(429);
  });

  test("a body that is not a JSON object is refused", async () => {
    await using service = await openService({ idle: true });
    const { key } = await service.person();
    for (const body of ["{", "[]", '"x"']) {
      const answer = await fetch(`${service.url}${prefix}/responses`, {
        method: "POST",
        headers: { API_KEY: key },
        body,
      });
      expect([answer.status, ((await answer.json()) as { error: { type: string } }).error.type]).toEqual([
        400,
        "invalid_request_error",
      ]);
    }
  });
});

test("every reason has a fitting type for its status", () => {
  const types: Readonly<Record<number, string>> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
  };
  for (const reason of Object.keys(v1Answers) as Reason[]) {
    const { status } = v1Answers[reason];
    expect(openaiRefusal(new Failure(reason, "…")).error.type, reason).toBe(
      types[status] ?? (status < 500 ? "invalid_request_error" : "server_error"),
    );
  }
});
