import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type ExportsRig, exportsRig } from "./exports-rig.ts";

const base = "dataexport.v1.EnterpriseDataExportService";

/** The reply, with its body parsed. */
async function send(url: string, path: string, init: RequestInit) {
  const reply = await fetch(`${url}/${path}`, { method: "POST", ...init });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    type: reply.headers.get("content-type"),
    json: text === "" ? null : JSON.parse(text),
  };
}

describe("refusals of dataexport.v1", () => {
  let rig: ExportsRig;
  beforeAll(async () => {
    rig = await exportsRig("sqlite");
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const validBody = () => JSON.stringify({ user: rig.bo.email, page: 1, page_size: 1 });
  const ask = (init: RequestInit, method = "ListTasks") =>
    send(rig.service.url, `${base}/${method}`, {
      ...init,
      headers: { ...rig.headers, ...(init.headers as Record<string, string>) },
    });

  const plain: [what: string, status: number, code: string, init: () => RequestInit, method?: string][] = [
    [
      "a broken rule",
      400,
      "INVALID_ARGUMENT",
      () => ({ body: JSON.stringify({ user: "x", page: 0, page_size: 1 }) }),
    ],
    ["no body", 400, "INVALID_ARGUMENT", () => ({})],
    ["truncated JSON", 400, "INVALID_ARGUMENT", () => ({ body: '{"user":' })],
    [
      "bytes that are invalid UTF-8",
      400,
      "INVALID_ARGUMENT",
      () => ({ body: new Uint8Array([0x22, 0xff, 0x22]) }),
    ],
    ["JSON of another shape", 400, "INVALID_ARGUMENT", () => ({ body: "[]" })],
    [
      "an invalid time",
      400,
      "INVALID_ARGUMENT",
      () => ({ body: JSON.stringify({ user: "x", page: 1, page_size: 1, start_time: "soon" }) }),
    ],
    [
      "two credentials",
      400,
      "INVALID_ARGUMENT",
      () => ({ body: validBody(), headers: { authorization: "Bearer x.y.z" } }),
    ],
    [
      "an unknown person",
      404,
      "NOT_FOUND",
      () => ({ body: JSON.stringify({ user: "x", page: 1, page_size: 1 }) }),
    ],
    ["an unknown export", 404, "NOT_FOUND", () => ({ body: JSON.stringify({ uid: "x" }) }), "GetExport"],
    ["a method that there is not", 404, "NOT_FOUND", () => ({ body: "{}" }), "DeleteExport"],
    ["a GET", 405, "INVALID_ARGUMENT", () => ({ method: "GET" })],
    ["a PUT", 405, "INVALID_ARGUMENT", () => ({ method: "PUT", body: validBody() })],
    [
      "a form of parts",
      415,
      "INVALID_ARGUMENT",
      () => ({ body: validBody(), headers: { "content-type": "multipart/form-data; boundary=x" } }),
    ],
    [
      "a body that is compressed",
      415,
      "INVALID_ARGUMENT",
      () => ({ body: validBody(), headers: { "content-encoding": "gzip" } }),
    ],
    ["no credential", 401, "PERMISSION_DENIED", () => ({ body: validBody(), headers: { "x-api-key": "" } })],
    [
      "an unknown key",
      401,
      "PERMISSION_DENIED",
      () => ({ body: validBody(), headers: { "x-api-key": newKeyText(systemRandom) } }),
    ],
  ];

  test.each(
    plain,
  )("have an upper-case code, a message and a request id, in plain JSON: %s", async (_what, status, code, init, method) => {
    const reply = await ask(init(), method);
    expect(reply).toMatchObject({ status, json: { code, message: expect.stringMatching(/./) } });
    expect(Object.keys(reply.json)).toEqual(["code", "message"]);
    expect(reply.type).toBe("application/json; charset=utf-8");
    expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
    expect(reply.headers.get("cache-control")).toBe("no-store");
  });

  test("are 401 with the text of spec/decisions.md 10; a key of another kind is 403 with the required kind", async () => {
    expect((await ask({ body: validBody(), headers: { "x-api-key": "" } })).json.message).toBe(
      "Invalid or missing API key or access token: missing authentication: send a key in x-service-api-key, or a key or access token in Authorization: Bearer",
    );
    const member = await rig.service.person({ with: rig.owner });
    const { status, json } = await ask({ body: validBody(), headers: { "x-api-key": member.key } });
    expect([status, json.code, json.message]).toEqual([
      403,
      "PERMISSION_DENIED",
      expect.stringContaining("e-Discovery & legal hold key"),
    ]);
  });

  test("are 400 for a failed precondition", async () => {
    const body = JSON.stringify({ email: rig.bo.email, scope: "ENTERPRISE_EXPORT_SCOPE_FULL" });
    const { json } = await ask({ body }, "CreateExport");
    expect(await ask({ body: JSON.stringify({ uid: json.uid }) }, "GetDownloadURL")).toMatchObject({
      ...{ status: 400, json: { code: "FAILED_PRECONDITION", message: "the export is not completed" } },
    });
  });

  test("have Connect's form for callers that send its version, and for binary messages", async () => {
    const json = { "content-type": "application/json", "connect-protocol-version": "1" };
    expect(await ask({ body: "{}", headers: json })).toMatchObject({
      status: 400,
      json: { code: "invalid_argument" },
    });
    expect(await ask({ body: "{", headers: json })).toMatchObject({
      status: 400,
      json: { code: "invalid_argument" },
    });
    expect(await ask({ body: validBody(), headers: { ...json, "x-api-key": "" } })).toMatchObject({
      status: 401,
      json: { code: "unauthenticated" },
    });
    expect(await ask({ body: JSON.stringify({ uid: "x" }), headers: json }, "GetExport")).toMatchObject({
      status: 404,
      json: { code: "not_found" },
    });
    expect(await ask({ body: "{}", headers: json }, "DeleteExport")).toMatchObject({
      status: 404,
      json: { error: { code: "not_found" } },
    });
    expect(await ask({ body: "", headers: { "content-type": "application/proto" } })).toMatchObject({
      status: 400,
      json: { code: "invalid_argument" },
    });
  });

  test("do not change Connect's GET", async () => {
    const query = new URLSearchParams({ connect: "v1", encoding: "json", message: validBody() });
    const { status, json } = await ask({ method: "GET" }, `ListTasks?${query}`);
    expect([status, json.total]).toEqual([200, 0]);
  });

  test.each([
    ["no type", {}],
    ["a form's, as curl has it", { "content-type": "application/x-www-form-urlencoded" }],
    ["text", { "content-type": "text/plain" }],
    ["JSON", { "content-type": "application/json" }],
  ])("do not depend on the body's type: %s", async (_what, headers) => {
    expect(
      await ask({ body: Buffer.from(validBody()), headers: headers as Record<string, string> }),
    ).toMatchObject({
      status: 200,
      json: { total: 0 },
    });
  });

  test("accept either spelling of a field, and ignore unknown fields", async () => {
    const body = JSON.stringify({ user: rig.bo.email, page: 1, pageSize: 1, colour: "green" });
    expect(await ask({ body })).toMatchObject({ status: 200, json: { records: [], total: 0 } });
  });
});

test("of a plain caller over its limit are 429, with the time to wait", async () => {
  await using service = await openService({ idle: true, clock: stillClock(), env: { RATE_LIMITS: "0.01" } });
  const owner = await service.person();
  const body = JSON.stringify({ user: owner.accountId, page: 1, page_size: 1 });
  const ask = () => send(service.url, `${base}/ListTasks`, { body, headers: owner.headers });
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect(refused).toMatchObject({ status: 429, json: { code: "RESOURCE_EXHAUSTED" } });
  for (const name of ["retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
    expect(refused.headers.get(name), name).toMatch(/^\d+$/);
});

test("of a plain body over the size limit are 413", async () => {
  await using service = await openService({ idle: true, env: { BODY_LIMIT: "1KiB" } });
  const owner = await service.person();
  const body = JSON.stringify({ user: "x".repeat(2000) });
  const reply = await send(service.url, `${base}/ListTasks`, { body, headers: owner.headers });
  expect(reply).toMatchObject({ status: 413, json: { code: "INVALID_ARGUMENT" } });
});
