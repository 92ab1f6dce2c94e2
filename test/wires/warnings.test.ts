import { type DescMethod, type JsonObject, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { staysOpen } from "../support/wires.ts";
import { canOpen } from "./access.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { framed, type RawReply, type RawRequest, send, sendHttp2 } from "./raw.ts";
import { sampleOf } from "./sample.ts";

const origin = "https://app.example";

let service: Service;
let keys: Keyring;

beforeAll(async () => {
  // The clock does not move: only calls write.
  service = await openService({ idle: true, clock: stillClock(), env: { CORS_ORIGINS: origin } });
  keys = await keyringOf(service);
});
afterAll(() => service[Symbol.asyncDispose]());

/** The smallest valid request of an operation in protobuf's JSON. */
const protoJson = ({ input }: DescMethod): JsonObject =>
  toJson(input, compileReader(input)(sampleOf(input), "body")) as JsonObject;

/** How a client of each wire in JSON sends a request. */
interface JsonWire {
  readonly serves: (operation: Operation) => boolean;
  readonly json: (method: DescMethod) => JsonObject;
  readonly call: (
    operation: Operation,
    json: JsonObject,
    headers: Readonly<Record<string, string>>,
  ) => Promise<RawReply>;
}

const rpcUrl = ({ method }: Operation): string => `${service.url}/${rpcName(method)}`;
const isUnary = ({ method }: Operation): boolean => method.methodKind === "unary";
const isStream = ({ method }: Operation): boolean => method.methodKind === "server_streaming";
const typed = (type: string, headers: RawRequest["headers"]) => ({
  ...headers,
  "content-type": type,
  te: "trailers",
});
const enveloped = (json: JsonObject) => framed(Buffer.from(JSON.stringify(json)));

const wires: Readonly<Record<string, JsonWire>> = {
  v2: {
    serves: ({ name }) => name !== null,
    json: ({ input }) => sampleOf(input),
    call: ({ name }, json, headers) =>
      send(`${service.url}/v2/${name}`, { headers, body: JSON.stringify(json) }),
  },
  "v2 with a query": {
    serves: ({ name, isChange: change }) => name !== null && !change,
    json: ({ input }) => sampleOf(input),
    call: ({ name }, json, headers) =>
      send(`${service.url}/v2/${name}?${new URLSearchParams(json as Record<string, string>)}`, {
        method: "GET",
        headers,
      }),
  },
  Connect: {
    serves: isUnary,
    json: protoJson,
    call: (operation, json, headers) =>
      send(rpcUrl(operation), { headers: typed("application/json", headers), body: JSON.stringify(json) }),
  },
  "Connect over HTTP/2": {
    serves: isUnary,
    json: protoJson,
    call: (operation, json, headers) =>
      sendHttp2(rpcUrl(operation), {
        headers: typed("application/json", headers),
        body: JSON.stringify(json),
      }),
  },
  "Connect with GET": {
    serves: (operation) => isUnary(operation) && !operation.isChange && operation.method.idempotency === 1,
    json: protoJson,
    call: (operation, json, headers) => {
      const query = new URLSearchParams({ connect: "v1", encoding: "json", message: JSON.stringify(json) });
      return send(`${rpcUrl(operation)}?${query}`, { method: "GET", headers });
    },
  },
  "a stream of Connect": {
    serves: isStream,
    json: protoJson,
    call: (operation, json, headers) =>
      send(rpcUrl(operation), { headers: typed("application/connect+json", headers), body: enveloped(json) }),
  },
  gRPC: {
    serves: (operation) => isUnary(operation) || isStream(operation),
    json: protoJson,
    call: (operation, json, headers) =>
      sendHttp2(rpcUrl(operation), {
        headers: typed("application/grpc+json", headers),
        body: enveloped(json),
      }),
  },
  "gRPC-Web": {
    serves: (operation) => isUnary(operation) || isStream(operation),
    json: protoJson,
    call: (operation, json, headers) =>
      send(rpcUrl(operation), {
        headers: typed("application/grpc-web+json", headers),
        body: enveloped(json),
      }),
  },
};

/**
 * A session has no access by GET, nor to streams both ways. Answers are read to their end, so streams without
 * one have a separate test.
 */
const servedBy = ({ serves }: JsonWire, withSessions: boolean) =>
  operationTable().all.filter(
    (operation) =>
      serves(operation) && !staysOpen(operation.rpc) && (withSessions || canOpen(operation, "v2")),
  );

const warning = 'unknown member "zebra"';
const strict = { prefer: "handling=strict" };
/** The texts of an answer's warnings, without the quoting and spacing of its wire. */
const texts = ({ headers, text }: RawReply): string =>
  `${text}${headers.get("grpc-message") ?? ""}`
    .replaceAll('\\"', '"')
    .replaceAll("%22", '"')
    .replaceAll("%20", " ");
const written = () =>
  service.statements.filter(
    (sql) => /^\s*(INSERT|UPDATE|DELETE)/i.test(sql) && !/"?(api_key|worker)"? /.test(sql),
  ).length;

describe.each(Object.entries(wires))("over %s", (name, wire) => {
  const served = servedBy(wire, name.startsWith("Connect") && !name.endsWith("GET"));
  const operations = share(served, Object.keys(wires).indexOf(name), Math.min(3, served.length));

  test("every operation names an unknown member in the head of its answer", async () => {
    const silent: string[] = [];
    for (const operation of operations) {
      const sent = wire.call(
        operation,
        { ...wire.json(operation.method), zebra: 1 },
        keys.permitted(operation),
      );
      const { headers } = await sent;
      if (headers.get("x-request-warnings") !== warning)
        silent.push(`${operation.rpc}: ${headers.get("x-request-warnings")}`);
    }
    expect(operations.length).toBeGreaterThan(0);
    expect(silent).toEqual([]);
  });

  test("every operation refuses an unknown member under strict handling, before anything is written", async () => {
    const accepted: string[] = [];
    for (const operation of operations) {
      const before = written();
      const reply = await wire.call(
        operation,
        { ...wire.json(operation.method), zebra: 1 },
        { ...keys.permitted(operation), ...strict },
      );
      const applied = reply.headers.get("preference-applied");
      const isRight = texts(reply).includes(warning) && applied === "handling=strict" && written() === before;
      if (!isRight) accepted.push(`${operation.rpc}: ${applied} ${texts(reply)}`);
    }
    expect(accepted).toEqual([]);
  });

  test("no valid request causes a warning, or a refusal under strict handling", async () => {
    const wrong: string[] = [];
    for (const operation of operations) {
      const reply = await wire.call(operation, wire.json(operation.method), {
        ...keys.permitted(operation),
        ...strict,
      });
      if (reply.headers.has("x-request-warnings") || /unknown member|has no effect/.test(texts(reply)))
        wrong.push(operation.rpc);
    }
    expect(wrong).toEqual([]);
  });
});

describe("a client that", () => {
  const headers = () => ({ "x-service-api-key": keys.key("general") });
  const v2 = (name: string, body: object, more: RawRequest["headers"] = {}) =>
    send(`${service.url}/v2/${name}`, { headers: { ...headers(), ...more }, body: JSON.stringify(body) });

  test("misspells a member gets a suggestion, in body and head", async () => {
    const reply = await v2("task.create", {
      message: { content: "Hello", role: "user" },
      interctive_mode: true,
    });
    const warnings = [
      'unknown member "message.role"',
      'unknown member "interctive_mode"; did you mean "interactive_mode"?',
    ];
    expect(reply.json()).toMatchObject({ ok: true, warnings });
    expect(reply.headers.get("x-request-warnings")).toBe(warnings.join(", "));
  });

  test("misspells a required member learns both from the refusal", async () => {
    const reply = await v2("task.create", { mesage: { content: "Hello" } });
    expect(reply.status).toBe(400);
    expect(reply.json()).toMatchObject({
      ok: false,
      error: { code: "invalid_argument", message: expect.stringMatching(/^message: /) },
      warnings: ['unknown member "mesage"; did you mean "message"?'],
    });
    expect(reply.headers.get("x-request-warnings")).toContain('did you mean "message"?');
  });

  test("breaks the rule of another member is warned of the unknown one too", async () => {
    const reply = await v2("task.list", { limt: 1, limit: "many" });
    expect([reply.status, reply.json()["warnings"]]).toEqual([
      400,
      ['unknown member "limt"; did you mean "limit"?'],
    ]);
  });

  test("filters by a name that a query does not accept is warned", async () => {
    const reply = await send(`${service.url}/v2/task.list?shade=running&limt=1`, {
      method: "GET",
      headers: headers(),
    });
    expect(reply.json()["warnings"]).toEqual([
      'unknown member "shade"',
      'unknown member "limt"; did you mean "limit"?',
    ]);
  });

  test("requests an option that is not implemented is warned, on all wires", async () => {
    const task_id = (await v2("task.create", { message: { content: "Hello" } })).json()["task_id"];
    const reply = await v2("task.listMessages", { task_id, slides_format: "pptx" });
    expect(reply.json()).toMatchObject({ ok: true, warnings: ['member "slides_format" has no effect'] });
    const body = JSON.stringify({ taskId: task_id, slidesFormat: "SLIDES_FORMAT_PPTX" });
    const rpc = await send(`${service.url}/task.v2.TaskService/ListMessages`, {
      headers: typed("application/json", headers()),
      body,
    });
    expect([rpc.status, rpc.headers.get("x-request-warnings")]).toEqual([
      200,
      'member "slidesFormat" has no effect',
    ]);
    expect((await v2("task.listMessages", { task_id, slides_format: "pptx" }, strict)).status).toBe(400);
  });

  test("sends known members, or null, is not warned", async () => {
    const reply = await v2("task.list", { limit: 1, cursor: null, nothing: null });
    expect(reply.json()).not.toHaveProperty("warnings");
    expect(reply.headers.has("x-request-warnings")).toBe(false);
  });

  test("calls by Connect is warned by the head alone", async () => {
    const reply = await send(`${service.url}/task.v2.TaskService/ListTasks`, {
      headers: typed("application/json", headers()),
      body: '{"limt":1}',
    });
    expect(reply.headers.get("x-request-warnings")).toBe('unknown member "limt"; did you mean "limit"?');
    expect(reply.json()).not.toHaveProperty("warnings");
  });

  test("sends unknown field numbers in a binary message is not warned", async () => {
    const body = Buffer.from([0xfa, 0x07, 0x01, 0x61]);
    const reply = await send(`${service.url}/task.v2.TaskService/ListTasks`, {
      headers: typed("application/proto", { ...headers(), ...strict }),
      body,
    });
    expect([reply.status, reply.headers.has("x-request-warnings")]).toEqual([200, false]);
  });

  test("repeats a call with its idempotency key gets the warnings of the repeat", async () => {
    const key = { "idempotency-key": "warned-1" };
    const first = (await v2("project.create", { name: "Garden", nme: 1 }, key)).json();
    expect(first["warnings"]).toHaveLength(1);
    const again = (await v2("project.create", { name: "Garden" }, key)).json();
    expect(again).toEqual({ ...first, request_id: again.request_id, warnings: undefined });
    const other = (await v2("project.create", { name: "Garden", colour: 1 }, key)).json();
    expect(other["warnings"]).toEqual(['unknown member "colour"']);
  });

  test.each([
    ["handling=strict", 400],
    ['respond-async, Handling = "strict"; x=1, wait=10', 400],
    ["handling=strict, handling=lenient", 400],
    ["handling=lenient, handling=strict", 200],
    ['note="a, handling=strict"', 200],
    ["handling=stricter", 200],
    ["strict", 200],
    ['"', 200],
  ])("prefers %s gets %i", async (prefer, status) => {
    const reply = await v2("project.list", { zebra: 1 }, { prefer });
    expect(reply.status).toBe(status);
    expect(reply.headers.get("preference-applied")).toBe(status === 400 ? "handling=strict" : null);
  });

  test("prefers strict handling with a valid request gets the preference confirmed", async () => {
    const reply = await v2("project.list", {}, strict);
    expect([reply.status, reply.headers.get("preference-applied")]).toEqual([200, "handling=strict"]);
  });

  test("is a page of another origin may read the warnings", async () => {
    const reply = await v2("project.list", { zebra: 1 }, { origin });
    expect(reply.headers.get("access-control-expose-headers")?.split(", ")).toEqual(
      expect.arrayContaining(["X-Request-Warnings", "Preference-Applied"]),
    );
  });

  test("puts its key instead of a member's name does not find it in an answer", async () => {
    const key = keys.key("general");
    const reply = await v2("project.list", { [key]: 1 });
    expect(reply.json()["warnings"]).toEqual(['unknown member "(hidden)"']);
    expect(reply.headers.get("x-request-warnings")).toBe('unknown member "(hidden)"');
    expect((await v2("project.list", { [key]: 1 }, strict)).text).not.toContain(key);
  });

  test("downloads the audit log is warned before the first line", async () => {
    const url = `${service.url}/v2/audit.download`;
    const reply = await send(`${url}?actoin=x`, { method: "GET", headers: headers() });
    expect([reply.status, reply.headers.get("x-request-warnings")]).toEqual([
      200,
      expect.stringContaining('unknown member "actoin"'),
    ]);
    expect(
      (await send(`${url}?actoin=x`, { method: "GET", headers: { ...headers(), ...strict } })).status,
    ).toBe(400);
  });

  test("exports by plain JSON is warned, or refused under strict handling", async () => {
    const operation = operationTable().all.find(({ rpc }) => rpc.startsWith("dataexport.v1."));
    if (!operation) throw new Error("dataexport.v1 is gone");
    const call = (more: RawRequest["headers"]) =>
      send(rpcUrl(operation), { headers: { ...keys.permitted(operation), ...more }, body: '{"zebra":1}' });
    expect((await call({})).headers.get("x-request-warnings")).toBe(warning);
    expect((await call(strict)).json()).toEqual({ code: "INVALID_ARGUMENT", message: warning });
  });
});
