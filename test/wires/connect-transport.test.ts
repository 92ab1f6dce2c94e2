import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CreateProjectRequestSchema,
  ProjectService,
} from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { ListTasksRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { services } from "../../src/pipeline/services.ts";
import { openTestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";
import { framed, type RawRequest, send, sendHttp2 } from "./raw.ts";

const limit = 4096;

let service: Service;
let ann: Person;
let key: Record<string, string>;

beforeAll(async () => {
  service = await openService({ idle: true, env: { BODY_LIMIT: String(limit) } });
  ann = await service.person();
  key = { "x-service-api-key": ann.key };
});
afterAll(() => service[Symbol.asyncDispose]());

const path = (rpc: string) => `${service.url}/${rpc}`;
const json = { "content-type": "application/json" };
const proto = { "content-type": "application/proto" };
const grpc = { "content-type": "application/grpc+proto", te: "trailers" };
const createProject = "project.v2.ProjectService/CreateProject";
const listProjects = "project.v2.ProjectService/ListProjects";
const createTask = "task.v2.TaskService/CreateTask";

const call = (rpc: string, { headers, ...rest }: RawRequest) =>
  send(path(rpc), { headers: { ...key, ...json, ...headers }, ...rest });

const garden = '{"name":"Garden"}';
const gardenBytes = toBinary(
  CreateProjectRequestSchema,
  create(CreateProjectRequestSchema, { name: "Garden" }),
);

describe("Connect JSON", () => {
  test("answers in lowerCamelCase, with 64-bit numbers as text, and without an envelope", async () => {
    const reply = await call(createProject, { body: garden });
    expect(reply.json()).toEqual({
      project: { id: expect.any(String), name: "Garden", createdAt: expect.stringMatching(/^\d{10}$/) },
    });
  });

  test.each([
    [
      "the proto's spelling",
      {
        message: { content: [{ type: "CONTENT_PART_TYPE_TEXT", text: "Hi" }] },
        share_visibility: "SHARE_VISIBILITY_PUBLIC",
      },
    ],
    [
      "lowerCamelCase",
      {
        message: { content: [{ type: "CONTENT_PART_TYPE_TEXT", text: "Hi" }] },
        shareVisibility: "SHARE_VISIBILITY_PUBLIC",
      },
    ],
    ["numbers for enums", { message: { content: [{ type: 1, text: "Hi" }] }, shareVisibility: 3 }],
  ])("accepts %s", async (_what, body) => {
    const reply = await call(createTask, { body: JSON.stringify(body) });
    expect(reply.json()).toMatchObject({
      taskId: expect.any(String),
      shareVisibility: "SHARE_VISIBILITY_PUBLIC",
    });
  });

  test("ignores unknown members", async () => {
    const reply = await call(createProject, {
      body: '{"name":"Garden","__proto__":{"polluted":1},"constructor":1,"no_such_member":[{}]}',
    });
    expect(reply.json()).toMatchObject({ project: { name: "Garden" } });
    expect({}).not.toHaveProperty("polluted");
  });

  const snakeCase: ReadonlySet<string> = new Set([
    "team.v2",
    "dataexport.v1",
    "dataexport.v2",
    "observability.v2",
  ]);

  test("spells fields as proto3 does, except in the packages that the specification names", () => {
    const wrong = allMessages().flatMap(({ file, fields, typeName }) =>
      fields.flatMap(({ name, jsonName }) => {
        const expectedName = snakeCase.has(file.proto.package)
          ? name
          : name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
        return jsonName === expectedName ? [] : [`${typeName}.${name}: ${jsonName}`];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

/** Every message of this service that can be sent over a wire. */
function allMessages(): DescMessage[] {
  const found = new Set<DescMessage>();
  const visit = (desc: DescMessage | undefined): void => {
    if (!desc || found.has(desc) || desc.typeName.startsWith("google.")) return;
    found.add(desc);
    for (const field of desc.fields) visit(field.message);
  };
  for (const method of services.flatMap(({ methods }) => methods))
    [method.input, method.output].forEach(visit);
  return [...found];
}

describe("a compressed message", () => {
  test.each([
    ["gzip", gzipSync, gunzipSync],
    ["br", brotliCompressSync, brotliDecompressSync],
  ])("works in both directions as %s over Connect", async (encoding, compress, decompress) => {
    const name = "G".repeat(200);
    for (const _ of Array(8)) await ann.v2("project.create", { name });
    const reply = await call(listProjects, {
      headers: { "content-encoding": encoding, "accept-encoding": encoding },
      body: compress("{}"),
    });
    expect(reply.headers.get("content-encoding")).toBe(encoding);
    expect(JSON.parse(decompress(reply.bytes).toString()).data[0].name).toBe(name);
  });

  test("works in both directions over gRPC", async () => {
    const options = {
      baseUrl: service.url,
      sendCompression: compressionGzip,
      acceptCompression: [compressionGzip],
      compressMinBytes: 0,
    };
    const transport = createGrpcTransport(options);
    const { project } = await createClient(ProjectService, transport).createProject(
      { name: "Garden" },
      { headers: key },
    );
    expect(project?.name).toBe("Garden");
  });

  test("is measured after decompression", async () => {
    const bomb = gzipSync("x".repeat(10_000_000));
    const overConnect = await call(createProject, { headers: { "content-encoding": "gzip" }, body: bomb });
    expect(overConnect.json()).toMatchObject({
      code: "resource_exhausted",
      message: "the body is larger than 4096 bytes, the limit of project.create",
    });
    const overGrpc = await sendHttp2(path(createProject), {
      headers: { ...key, ...grpc, "grpc-encoding": "gzip" },
      body: framed(bomb, 1),
    });
    expect(overGrpc.headers.get("grpc-status")).toBe("8");
  });

  test.each([
    ["that is none", "gzip", 400, "invalid_argument"],
    ["with an unknown encoding", "zip", 501, "unimplemented"],
  ])("%s is refused, after its credential is accepted", async (_what, encoding, status, code) => {
    const headers = { "content-encoding": encoding };
    expect((await call(createProject, { headers, body: "not gzip" })).json()).toMatchObject({ code });
    expect((await call(createProject, { headers, body: "not gzip" })).status).toBe(status);
    expect(
      (await send(path(createProject), { headers: { ...json, ...headers }, body: "not gzip" })).status,
    ).toBe(401);
  });
});

describe("a Connect GET", () => {
  const get = (rpc: string, query: string, headers = key) =>
    send(`${path(rpc)}?${query}`, { method: "GET", headers });
  const base64 = Buffer.from(
    toBinary(ListTasksRequestSchema, create(ListTasksRequestSchema, { limit: 1 })),
  ).toString("base64url");

  test.each([
    ["JSON", "connect=v1&encoding=json&message=%7B%22limit%22%3A1%7D"],
    [
      "JSON in base64",
      `connect=v1&encoding=json&base64=1&message=${Buffer.from('{"limit":1}').toString("base64url")}`,
    ],
    ["a binary message", `connect=v1&encoding=proto&base64=1&message=${base64}`],
    [
      "a compressed one",
      `connect=v1&encoding=proto&base64=1&compression=gzip&message=${gzipSync(Buffer.from(base64, "base64url")).toString("base64url")}`,
    ],
  ])("reads with %s", async (_what, query) => {
    const reply = await get("task.v2.TaskService/ListTasks", query);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["a message that is not base64", "encoding=proto&base64=1&message=!", "message: must be base64"],
    ["a binary message that is none", "encoding=proto&base64=1&message=CgVh", "parse binary: premature EOF"],
    ["JSON that is none", "encoding=json&message=%7B", expect.stringContaining("JSON")],
    [
      "a field that breaks a rule",
      "encoding=json&message=%7B%22limit%22%3A0%7D",
      expect.stringMatching(/^limit: must/),
    ],
  ])("is refused with %s, after its credential is accepted", async (_what, query, message) => {
    const reply = await get("task.v2.TaskService/ListTasks", query);
    expect([reply.status, reply.json()]).toMatchObject([400, { code: "invalid_argument", message }]);
    expect((await get("task.v2.TaskService/ListTasks", query, {})).status).toBe(401);
  });

  test("never changes anything", async () => {
    const reply = await get(createProject, "encoding=json&message=%7B%22name%22%3A%22By%20GET%22%7D");
    expect(reply.status).toBe(405);
    const { body } = await ann.v2("project.list");
    expect(JSON.stringify(body)).not.toContain("By GET");
  });

  test("is sent by a client for reads, when configured", async () => {
    const transport = createConnectTransport({ baseUrl: service.url, httpVersion: "1.1", useHttpGet: true });
    const { data } = await createClient(ProjectService, transport).listProjects({}, { headers: key });
    expect(data.length).toBeGreaterThan(0);
  });
});

describe("a message that cannot be read", () => {
  const truncated = Uint8Array.from([0x0a, 0x05, 0x61]);
  const surrogate = Uint8Array.from([0x0a, 0x03, 0xed, 0xa0, 0x80]);
  const noType = Uint8Array.from([0x0f]);
  /** A Struct inside Structs, deeper than any reader follows. */
  const deep = `{"structuredOutputSchema":${'{"a":'.repeat(300)}1${"}".repeat(300)}}`;

  test.each([
    ["one that ends early", truncated],
    ["text that is not UTF-8", surrogate],
    ["a field of no type", noType],
  ])("is a client error on every binary wire: %s", async (_what, bytes) => {
    const overConnect = await send(path(createProject), { headers: { ...key, ...proto }, body: bytes });
    expect([overConnect.status, overConnect.json()["code"]]).toEqual([400, "invalid_argument"]);
    const overGrpc = await sendHttp2(path(createProject), {
      headers: { ...key, ...grpc },
      body: framed(bytes),
    });
    expect(overGrpc.headers.get("grpc-status")).toBe(String(Code.InvalidArgument));
    const overWeb = await send(path(createProject), {
      headers: { ...key, "content-type": "application/grpc-web+proto" },
      body: framed(bytes),
    });
    expect(overWeb.text).toContain(`grpc-status: ${Code.InvalidArgument}`);
    for (const { headers } of [overConnect, overGrpc, overWeb])
      expect(headers.get("x-request-id")).toMatch(/^req_/);
  });

  test.each([
    ["JSON that is none", "{"],
    ["bytes that are not UTF-8", Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])],
    ["no object", "[]"],
  ])("is a client error on Connect JSON: %s", async (_what, body) => {
    const reply = await call(createProject, { body });
    expect([reply.status, reply.json()["code"]]).toEqual([400, "invalid_argument"]);
  });

  test("is refused when it is nested too deep", async () => {
    const reply = await call(createTask, { body: deep });
    expect([reply.status, reply.json()["code"]]).toEqual([400, "invalid_argument"]);
  });

  test("is not read before its credential is accepted", async () => {
    for (const [headers, body] of [
      [json, "{"],
      [proto, truncated],
    ] as const) {
      expect((await send(path(createProject), { headers, body })).status).toBe(401);
    }
    expect(
      (await sendHttp2(path(createProject), { headers: grpc, body: framed(truncated) })).headers.get(
        "grpc-status",
      ),
    ).toBe("16");
  });

  test("over BODY_LIMIT is refused, with or without a length", async () => {
    const large = "x".repeat(limit + 1);
    for (const body of [large, [large.slice(1), "x"]])
      expect((await call(createProject, { body })).json()).toMatchObject({ code: "resource_exhausted" });
    const overGrpc = await sendHttp2(path(createProject), {
      headers: { ...key, ...grpc },
      body: framed(Buffer.from(large)),
    });
    expect(overGrpc.headers.get("grpc-status")).toBe("8");
  });

  test("has a malformed timeout in its head", async () => {
    expect(
      (await call(createProject, { headers: { "connect-timeout-ms": "soon" }, body: garden })).json(),
    ).toMatchObject({
      code: "invalid_argument",
    });
  });
});

describe("an RPC path", () => {
  test.each([
    "project.v2.ProjectService/BurnProject",
    "project.v2.NoSuchService/ListProjects",
    "project.v2.ProjectService",
    "project.v2.ProjectService/listProjects",
  ])("that is unknown is 404: %s", async (rpc) => {
    expect((await call(rpc, { body: "{}" })).status).toBe(404);
  });

  test("that is unknown is unimplemented to Connect and gRPC clients", async () => {
    const method = { ...ProjectService.method.listProjects, name: "BurnProjects" };
    for (const transport of [
      createConnectTransport({ baseUrl: service.url, httpVersion: "1.1" }),
      createGrpcTransport({ baseUrl: service.url }),
    ]) {
      const answer = transport.unary(method, undefined, undefined, key, {});
      await expect(answer).rejects.toMatchObject({ code: Code.Unimplemented });
    }
  });

  test.each([
    ["without a host, as HTTP/1.0 allows", `POST /${createProject} HTTP/1.0`],
    ["with an empty one", `POST /${createProject} HTTP/1.1\r\nHost:`],
    ["with one that is none", `POST /${createProject} HTTP/1.1\r\nHost: a b`],
  ])("is refused %s, and never answered as if it were done", async (_what, head) => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.end(
      `${head}\r\nx-service-api-key: ${ann.key}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${garden.length}\r\n\r\n${garden}`,
    );
    const answer = await text(socket);
    expect(answer).toContain(" 400 Bad Request\r\n");
    expect(answer).toContain("Host: must name a host");
  });

  const unaryTypes = "application/json or application/proto";
  const streamTypes = "application/connect+json or application/connect+proto";
  test.each(
    ["text/plain", "application/xml", "application/x-www-form-urlencoded"].flatMap((type) => [
      [type, createProject, unaryTypes] as const,
      [type, "worker.v1.WorkerService/Poll", unaryTypes] as const,
      [type, "task.v2.TaskService/WatchTask", streamTypes] as const,
    ]),
  )("refuses %s to %s with 415, and names the supported types", async (type, at, types) => {
    const { status, json } = await call(at, { headers: { "content-type": type }, body: garden });
    expect([status, json().error?.message]).toEqual([
      415,
      `Content-Type: must be ${types}; application/grpc and application/grpc-web for gRPC`,
    ]);
  });

  test.each(["PUT", "DELETE", "PATCH"])("refuses %s with 405", async (method) => {
    expect((await call(createProject, { method, body: garden })).status).toBe(405);
  });
});

describe("gRPC, with another gRPC client,", () => {
  const unary = (url: string, metadata: Metadata) =>
    new Promise<{ bytes?: Buffer; error?: ServiceError; metadata: Metadata; status: Metadata }>((resolve) => {
      const client = new Client(url.replace("http://", ""), credentials.createInsecure());
      let initial = new Metadata();
      let outcome: { bytes?: Buffer; error?: ServiceError } = {};
      const sent = client.makeUnaryRequest<Buffer, Buffer>(
        `/${createProject}`,
        (bytes) => bytes,
        (bytes) => bytes,
        Buffer.from(gardenBytes),
        metadata,
        (error, bytes) => {
          outcome = error ? { error } : bytes ? { bytes } : {};
        },
      );
      sent.on("metadata", (given) => {
        initial = given;
      });
      sent.on("status", (status) => {
        client.close();
        resolve({ ...outcome, metadata: initial, status: status.metadata });
      });
    });

  test("answers, reports limits in metadata, and says when to retry", async () => {
    await using limited = await openService({
      idle: true,
      clock: stillClock(),
      env: { RATE_LIMITS: "0.001" },
    });
    const { key: hers } = await limited.person();
    const shown = new Metadata();
    shown.set("x-service-api-key", hers);
    const first = await unary(limited.url, shown);
    expect(first.bytes?.toString()).toContain("Garden");
    expect(first.metadata.getMap()).toMatchObject({
      "ratelimit-limit": "1",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "45",
      "cache-control": "no-store",
    });
    const second = await unary(limited.url, shown);
    expect(second.error).toMatchObject({
      code: 8,
      details: expect.stringMatching(/^rate limit of 1 calls a minute for \S+ exceeded$/),
    });
    expect(second.status.getMap()).toMatchObject({
      "retry-after": "45",
      "ratelimit-limit": "1",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "45",
    });
    expect(second.status.get("x-request-id")).toEqual([expect.stringMatching(/^req_/)]);
  });

  test("refuses with code 16", async () => {
    const { error } = await unary(service.url, new Metadata());
    expect(error?.code).toBe(16);
    // This client does not unescape characters that stand unescaped in a URL.
    expect(decodeURIComponent(error?.details ?? "")).toMatch(
      /^Invalid or missing API key or access token: missing authentication: send a key in x-service-api-key/,
    );
  });
});

describe("an unexpected exception", () => {
  test.each(
    rpcWires,
  )("is reported only as an internal error over %s, and logged with the request's id", async (wire) => {
    const secret = "row 17 of accounts holds sk-secret";
    await using database = await openTestStore("sqlite");
    const insert = async () => {
      throw new Error(secret);
    };
    await using broken = await openService({
      idle: true,
      over: { store: storeWithFaults(database.store, "projects", () => ({ insert })), url: database.url },
    });
    const person = await broken.person();
    const error = await person
      .client(ProjectService, wire)
      .createProject({ name: "Garden" })
      .catch(ConnectError.from);
    if (!(error instanceof ConnectError)) throw new Error("it was answered");
    expect([error.code, error.rawMessage]).toEqual([Code.Internal, "internal error"]);
    expect(JSON.stringify([...error.metadata])).not.toContain("row 17");
    expect(broken.problems).toMatchObject([
      { level: "error", text: "a call failed", fields: { requestId: error.metadata.get("x-request-id") } },
    ]);
    expect(String(broken.problems[0]?.fields["cause"])).toContain(secret);
  });
});
