import { gzipSync } from "node:zlib";
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  ListTasksResponseSchema,
  WatchTaskResponseSchema,
} from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import { framed } from "../../wires/raw.ts";
import type { FuzzAnswer, FuzzRequest, LimitName, Wire } from "../request.ts";
import { judge } from "./judge.ts";
import { colleaguesMark, otherAccountsMark, otherProjectsMark } from "./leaks.ts";

const requestId = "req_2222222222222222222222";
const head = { "x-request-id": requestId, "cache-control": "no-store" };

const requestOver = (wire: Wire, over: Partial<FuzzRequest> = {}): FuzzRequest => ({
  ...{ wire, kind: "valid", rpc: "task.v2.TaskService/ListTasks", streaming: false, http: 1, method: "POST" },
  ...{
    path: wire.startsWith("v2") ? "/v2/task.list" : "/task.v2.TaskService/ListTasks",
    headers: {},
    body: new Uint8Array(),
  },
  ...over,
});
const watched = (wire: Wire): FuzzRequest =>
  requestOver(wire, { rpc: "task.v2.TaskService/WatchTask", path: "/v2/task.watch", streaming: true });

const got = (type: string, body: string | Uint8Array, over: Partial<FuzzAnswer> = {}): FuzzAnswer => ({
  status: 200,
  headers: { ...head, ...(type === "" ? {} : { "content-type": type }), ...over.headers },
  trailers: over.trailers ?? {},
  body: Buffer.from(body as string),
  cut: over.cut ?? false,
  ...(over.status === undefined ? {} : { status: over.status }),
});

const json = "application/json; charset=utf-8";
const pageType = "text/html; charset=utf-8";
const policy = { headers: { "content-security-policy": "default-src 'none'; script-src 'self'" } };
const ok = (members: object = {}): string => JSON.stringify({ ok: true, request_id: requestId, ...members });
const refusal = (code: string, over: object = {}): string =>
  JSON.stringify({
    ok: false,
    request_id: requestId,
    error: { code, message: "why", type: code, doc_url: `https://stub.test/errors/${code}` },
    ...over,
  });
const bytesOf = (desc: DescMessage): Uint8Array => toBinary(desc, create(desc));
const list = bytesOf(ListTasksResponseSchema);
const grpcOk = { trailers: { "grpc-status": "0" } };
const webTrailers = (text: string): Buffer => framed(Buffer.from(text), 0x80);
const listened = requestOver("v2", {
  rpc: "webhook.v2.WebhookService/ListenWebhook",
  path: "/v2/webhook.listen",
  streaming: true,
});
const eventStream = "text/event-stream; charset=utf-8";
const event = (seq: number, data: object): string =>
  `id: ${seq}\nevent: user_stop\ndata: ${JSON.stringify(data)}\n\n`;
const tool = requestOver("mcp", { path: "/mcp?tools=all" });
const rpc = (members: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, ...members });
const rpcError = (code: number, data: object = {}): string => rpc({ error: { code, message: "why", data } });
const toolRefusal = (code: string): string =>
  rpc({
    result: {
      isError: true,
      content: [{ type: "text", text: JSON.stringify({ error: { code, message: "why" } }) }],
    },
  });
const run = requestOver("ag-ui", { path: "/ag-ui", streaming: true });
const ran = (...events: readonly object[]): string =>
  events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
const limitedTo = (name: LimitName, isAllowed: boolean, wire: Wire): FuzzRequest =>
  requestOver(wire, { kind: "key", limit: { name, isAllowed } });
const listsTasks = { rpc: "lf.a2a.v1.A2AService/ListTasks" };
const a2aRpc = requestOver("a2a-rpc", { ...listsTasks, path: "/a2a" });
const a2aRest = requestOver("a2a-rest", { ...listsTasks, path: "/a2a/tasks?pageSize=1" });
const rpcStatus = (code: number, status: string): string =>
  JSON.stringify({ error: { code, status, message: "why", details: [] } });
const end = `event: end\ndata: ${ok()}\n\n`;

describe("an answer in the shape of its wire is accepted", () => {
  test.each<[what: string, FuzzRequest, FuzzAnswer]>([
    ["v2", requestOver("v2"), got(json, ok({ data: [] }))],
    ["a refusal of v2", requestOver("v2-get"), got(json, refusal("permission_denied"), { status: 401 })],
    ["what is not built", requestOver("v2"), got(json, refusal("unimplemented"), { status: 501 })],
    [
      "v2's answer to HEAD",
      requestOver("v2", { kind: "head", method: "HEAD" }),
      got(json, "", { status: 405 }),
    ],
    ["an answer of v2 with warnings", requestOver("v2"), got(json, ok({ data: [], warnings: ["x"] }))],
    [
      "a refusal of v2 with warnings",
      requestOver("v2"),
      got(json, refusal("not_found", { warnings: ["x"] }), { status: 404 }),
    ],
    [
      "a stream of v2",
      watched("v2"),
      got(eventStream, `:\n\n${event(1, { type: "user_stop", seq: 1 })}${end}`),
    ],
    [
      "a listener of v2",
      listened,
      got(eventStream, `:\n\nevent: listener\ndata: {"id":"l"}\n\n`, { cut: true }),
    ],
    ["a stream of v2 that is cut", watched("v2"), got(eventStream, ":\n\nid: 1\neve", { cut: true })],
    ["a stream of v2 that has nothing", watched("v2"), got("", "", { status: 204 })],
    ["Connect JSON", requestOver("connect-json"), got("application/json", "{}")],
    [
      "Connect's compressed JSON",
      requestOver("connect-json"),
      got("application/json", gzipSync("{}"), { headers: { "content-encoding": "gzip" } }),
    ],
    ["Connect binary", requestOver("connect-proto"), got("application/proto", list)],
    [
      "Connect's refusal",
      requestOver("connect-get"),
      got("application/json", '{"code":"not_found","message":"no"}', { status: 404 }),
    ],
    [
      "Connect's stream",
      watched("connect-proto"),
      got(
        "application/connect+proto",
        Buffer.concat([framed(bytesOf(WatchTaskResponseSchema)), framed(Buffer.from("{}"), 2)]),
      ),
    ],
    [
      "Connect's stream that is cut",
      watched("connect-json"),
      got("application/connect+json", Buffer.alloc(3), { cut: true }),
    ],
    ["gRPC", requestOver("grpc"), got("application/grpc+proto", framed(list), grpcOk)],
    [
      "gRPC's refusal",
      requestOver("grpc"),
      got("application/grpc+proto", "", { trailers: { "grpc-status": "5", "grpc-message": "no%20task" } }),
    ],
    [
      "gRPC-Web",
      requestOver("grpc-web"),
      got("application/grpc-web+proto", Buffer.concat([framed(list), webTrailers("grpc-status: 0\r\n")])),
    ],
    [
      "a page of the console",
      requestOver("connect-get", { kind: "path", method: "GET", path: "/" }),
      got(pageType, "<!doctype html>", policy),
    ],
    ["the result of a tool", tool, got(json, rpc({ result: { content: [{ type: "text", text: "{}" }] } }))],
    ["the refusal of a tool, as an event", tool, got(eventStream, `data: ${toolRefusal("not_found")}\n\n`)],
    ["a refusal of MCP", tool, got(json, rpcError(-32_000, { code: "not_found" }), { status: 404 })],
    ["a run of AG-UI", run, got(eventStream, ran({ type: "RUN_STARTED" }, { type: "RUN_FINISHED" }))],
    [
      "a run of AG-UI that is cut",
      run,
      got(eventStream, `:\n\n${ran({ type: "RUN_STARTED" })}data: {"ty`, { cut: true }),
    ],
    ["a refusal of AG-UI", run, got(json, refusal("invalid_argument"), { status: 400 })],
    ["what a key with limits may do", limitedTo("reader", true, "v2"), got(json, ok({ data: [] }))],
    [
      "a refusal of a key with limits",
      limitedTo("expired", false, "grpc-web"),
      got("application/grpc-web+proto", webTrailers("grpc-status: 16\r\ngrpc-message: no\r\n")),
    ],
    ["JSON-RPC of A2A", a2aRpc, got(json, rpc({ result: { tasks: [], totalSize: 0 } }))],
    ["a refusal of JSON-RPC of A2A", a2aRpc, got(json, rpcError(-32_602))],
    ["HTTP+JSON of A2A", a2aRest, got(json, '{"tasks":[]}')],
    ["a refusal of HTTP+JSON of A2A", a2aRest, got(json, rpcStatus(404, "NOT_FOUND"), { status: 404 })],
    ["an unsupported type", requestOver("grpc-web-text"), got("", "", { status: 415 })],
    [
      "a call whose own deadline expired",
      requestOver("connect-json", { headers: { "connect-timeout-ms": "1" } }),
      got("application/json", '{"code":"deadline_exceeded","message":"late"}', { status: 504 }),
    ],
  ])("%s", (_what, request, answer) => {
    expect(judge(request, answer)).toEqual([]);
  });
});

describe("an answer in the wrong shape is reported", () => {
  test.each<[what: string, FuzzRequest, FuzzAnswer, flaw: string]>([
    [
      "an internal error of v2",
      requestOver("v2"),
      got(json, refusal("internal"), { status: 500 }),
      "the status 500",
    ],
    [
      "a busy server",
      requestOver("v2"),
      got(json, refusal("unavailable"), { status: 503 }),
      "the status 503",
    ],
    [
      "a late answer to a call without a time",
      requestOver("connect-json"),
      got("application/json", "{}", { status: 504 }),
      "the status 504",
    ],
    ["no message of JSON-RPC", tool, got(json, ok()), "200 without a message of JSON-RPC"],
    ["an internal error of JSON-RPC", tool, got(json, rpcError(-32_603)), "the error -32603"],
    [
      "an internal error of a tool",
      tool,
      got(json, toolRefusal("internal")),
      "the refusal internal of a tool",
    ],
    ["a run without an end", run, got(eventStream, ran({ type: "RUN_STARTED" })), "the run has no end"],
    [
      "an unknown event",
      run,
      got(eventStream, ran({ type: "SURPRISE" }, { type: "RUN_FINISHED" })),
      "the event SURPRISE",
    ],
    [
      "an internal error of a run",
      run,
      got(eventStream, ran({ type: "RUN_ERROR", code: "internal" })),
      "a run with an internal error",
    ],
    ...(
      [
        ["v2", json, ok()],
        ["connect-json", "application/json", "{}"],
        [
          "grpc-web",
          "application/grpc-web+proto",
          Buffer.concat([framed(list), webTrailers("grpc-status: 0\r\n")]),
        ],
        ["mcp", json, rpc({ result: { content: [{ type: "text", text: "{}" }] } })],
        ["ag-ui", eventStream, ran({ type: "RUN_FINISHED" })],
      ] as const
    ).map(([wire, type, body]): [string, FuzzRequest, FuzzAnswer, string] => [
      `a call over ${wire} with a key that does not allow it`,
      limitedTo("reader", false, wire),
      got(type, body),
      'succeeds with the key "reader"',
    ]),
    [
      "a task outside of the key's project",
      limitedTo("project", true, "v2"),
      got(json, ok({ title: otherProjectsMark })),
      "reveals a task outside of the key's project",
    ],
    [
      "a message of another method of A2A",
      a2aRpc,
      got(json, rpc({ result: { skills: 7 } })),
      "the answer is not lf.a2a.v1.ListTasksResponse",
    ],
    [
      "a status of HTTP+JSON with another code",
      a2aRest,
      got(json, rpcStatus(400, "NOT_FOUND"), { status: 404 }),
      "404 with the code 400",
    ],
    [
      "an internal error of A2A",
      a2aRest,
      got(json, rpcStatus(400, "INTERNAL"), { status: 400 }),
      "the code INTERNAL",
    ],
    ["no JSON from v2", requestOver("v2"), got(json, "oops"), "the body is not a JSON object"],
    [
      "text from v2",
      requestOver("v2"),
      got("text/plain", "oops", { status: 404 }),
      "text instead of v2, with 404",
    ],
    [
      "a page instead of an answer",
      requestOver("v2"),
      got(pageType, "", policy),
      "page instead of v2, with 200",
    ],
    [
      "a page at another address",
      requestOver("connect-get", { kind: "path", method: "GET", path: "/no/such" }),
      got(pageType, "", policy),
      "200 with a page",
    ],
    [
      "a page without its policy",
      requestOver("connect-get", { kind: "path", method: "GET", path: "/" }),
      got(pageType, ""),
      "a page without its policy",
    ],
    ["ok with a refusal's status", requestOver("v2"), got(json, ok(), { status: 404 }), "ok with 404"],
    ["ok together with an error", requestOver("v2"), got(json, ok({ error: {} })), "ok with 200"],
    [
      "a code that is not the status's",
      requestOver("v2"),
      got(json, refusal("not_found"), { status: 400 }),
      "400 with the code not_found",
    ],
    [
      "a refusal with more members",
      requestOver("v2"),
      got(json, refusal("not_found", { x: 1 }), { status: 404 }),
      "a refusal with other members",
    ],
    [
      "warnings that are none",
      requestOver("v2"),
      got(json, ok({ warnings: [] })),
      "warnings that are not 1 to 10 texts",
    ],
    [
      "another request id",
      requestOver("v2"),
      got(json, ok().replace("req_22", "req_33")),
      "the body has another request id than the head",
    ],
    [
      "no request id",
      requestOver("v2"),
      got(json, ok(), { headers: { "x-request-id": "mine" } }),
      "no request id of ours",
    ],
    [
      "what may be kept",
      requestOver("v2"),
      got(json, ok(), { headers: { "cache-control": "public" } }),
      "the answer may be kept",
    ],
    [
      "a framework's own refusal",
      requestOver("v2"),
      got(json, '{"statusCode":413}', { status: 413 }),
      "413 with the code undefined",
    ],
    ["events without an end", watched("v2"), got(eventStream, ":\n\n"), "the stream has no end"],
    [
      "a listener's frame with an id",
      listened,
      got(eventStream, `id: 1\nevent: delivery\ndata: {}\n\n${end}`),
      "a frame of no listener",
    ],
    [
      "events that break off",
      watched("v2"),
      got(eventStream, `${end}id: 1`),
      "the stream breaks off in a frame",
    ],
    [
      "an event with another's id",
      watched("v2"),
      got(eventStream, `${event(2, { type: "user_stop", seq: 1 })}${end}`),
      "a frame that does not say what its event says",
    ],
    [
      "a Connect answer of another type",
      requestOver("connect-proto"),
      got("application/proto", "\x0f"),
      "the answer is not task.v2.ListTasksResponse",
    ],
    [
      "Connect JSON of another type",
      requestOver("connect-json"),
      got("application/json", '{"data":5}'),
      "the answer is not task.v2.ListTasksResponse",
    ],
    [
      "an unknown code",
      requestOver("connect-json"),
      got("application/json", '{"code":"oops","message":"x"}', { status: 400 }),
      "the code oops",
    ],
    [
      "a code of the server's",
      requestOver("connect-json"),
      got("application/json", '{"code":"unknown","message":"x"}', { status: 400 }),
      "the code unknown",
    ],
    [
      "a code with another's status",
      requestOver("connect-json"),
      got("application/json", '{"code":"not_found","message":"x"}', { status: 400 }),
      "400 with the code not_found",
    ],
    [
      "a coding that it is not of",
      requestOver("connect-json"),
      got("application/json", "{}", { headers: { "content-encoding": "gzip" } }),
      "the body is not gzip",
    ],
    [
      "a Connect stream without an end",
      watched("connect-json"),
      got("application/connect+json", ""),
      "the stream has no end",
    ],
    [
      "an internal error at a stream's end",
      watched("connect-json"),
      got("application/connect+json", framed(Buffer.from('{"error":{"code":"internal","message":"x"}}'), 2)),
      "the code internal",
    ],
    [
      "gRPC without a status",
      requestOver("grpc"),
      got("application/grpc+proto", framed(list)),
      "the grpc-status is missing",
    ],
    [
      "gRPC's INTERNAL",
      requestOver("grpc"),
      got("application/grpc+proto", "", { trailers: { "grpc-status": "13" } }),
      "the grpc-status is 13",
    ],
    [
      "gRPC's UNKNOWN",
      requestOver("grpc"),
      got("application/grpc+proto", "", { trailers: { "grpc-status": "2" } }),
      "the grpc-status is 2",
    ],
    [
      "a status that is none",
      requestOver("grpc"),
      got("application/grpc+proto", "", { trailers: { "grpc-status": "17" } }),
      "the grpc-status is 17",
    ],
    [
      "gRPC's answer without a message",
      requestOver("grpc"),
      got("application/grpc+proto", "", grpcOk),
      "0 messages with the grpc-status 0",
    ],
    [
      "an envelope that breaks off",
      requestOver("grpc"),
      got("application/grpc+proto", framed(list).subarray(1), grpcOk),
      "the answer breaks off in an envelope",
    ],
    [
      "gRPC with an HTTP status",
      requestOver("grpc"),
      got("application/grpc+proto", framed(list), { ...grpcOk, status: 400 }),
      "the HTTP status 400",
    ],
    [
      "gRPC-Web without trailers",
      requestOver("grpc-web"),
      got("application/grpc-web+proto", framed(list)),
      "the trailers are not last",
    ],
    [
      "gRPC-Web's INTERNAL",
      requestOver("grpc-web"),
      got("application/grpc-web+proto", webTrailers("grpc-status: 13")),
      "the grpc-status is 13",
    ],
    [
      "another wire's answer",
      requestOver("grpc"),
      got("application/json", "{}"),
      "connect instead of grpc, with 200",
    ],
    ["an empty answer", requestOver("connect-json"), got("", ""), "none instead of connect, with 200"],
    [
      "v2's path in another shape",
      requestOver("v2", { kind: "head" }),
      got("", "", { status: 415 }),
      "none instead of v2, with 415",
    ],
    [
      "a refusal of no wire",
      requestOver("connect-json", { kind: "head" }),
      got("", "x", { status: 415 }),
      "415 without a type, and a body",
    ],
  ])("%s", (_what, request, answer, flaw) => {
    expect(judge(request, answer)).toContain(flaw);
  });

  test.each([
    ["a stack trace", "no\n    at handler (file:///app/src/main.ts:1:2)"],
    ["a path of the machine", "ENOENT: open '/var/lib/platform/platform.db'"],
    ["a source file", "thrown in perform.ts:42"],
    ["the database's name", "Invalid `prisma.task.findFirst()`"],
    ["a statement", "SELECT id\nFROM task WHERE id = 1"],
    ["a thrown error's name", "TypeError: cannot read properties of undefined"],
    ["another account's data", otherAccountsMark],
    ["a colleague's data", colleaguesMark],
    ["an API key", `sk-${"a".repeat(49)}`],
  ])("one that reveals %s, on any wire, in its body or in its trailers", (what, text) => {
    const fault = `reveals ${what}`;
    expect(judge(requestOver("v2"), got(json, text))).toContain(fault);
    expect(
      judge(
        requestOver("connect-json"),
        got("application/json", gzipSync(text), { headers: { "content-encoding": "gzip" } }),
      ),
    ).toContain(fault);
    const trailers = { "grpc-status": "5", "grpc-message": encodeURIComponent(text) };
    expect(judge(requestOver("grpc"), got("application/grpc+proto", "", { trailers }))).toContain(fault);
  });

  test("one that reveals it in its head", () => {
    expect(
      judge(requestOver("v2"), got(json, ok(), { headers: { "x-cause": "/tmp/platform.db" } })),
    ).toContain("reveals a path of the machine");
  });
});

test.each(["", "?a=b&%=%zz"])("the plain answer of dataexport.v1 passes with the query %j", (query) => {
  const rpc = "dataexport.v1.EnterpriseDataExportService/ListExports";
  const request = requestOver("connect-json", { rpc, kind: "path", path: `/${rpc}${query}` });
  expect(
    judge(request, got(json, '{"code":"NOT_FOUND","message":"user: user not found"}', { status: 404 })),
  ).toEqual([]);
});
