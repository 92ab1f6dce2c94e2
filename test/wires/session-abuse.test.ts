import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WatchTaskRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { framed, type RawReply, type RawRequest, send, sendHttp2 } from "./raw.ts";

/** Operations that a page may call with its session. */
const forSessions = operationTable().all.filter(
  ({ access, method }) =>
    access?.credentials.has(Access_Credential.SESSION) === true && method.methodKind !== "bidi_streaming",
);
const me = "/user.v2.UserService/GetCurrentUser";
const watch = "/task.v2.TaskService/WatchTask";

const foreignOrigins = (own: string): readonly (readonly [string, Readonly<Record<string, string>>])[] => [
  ["a foreign", { origin: "https://elsewhere.test" }],
  ["a `null`", { origin: "null" }],
  ["no", {}],
  ["a subdomain's", { origin: own.replace("://", "://www.") }],
  ["another port's", { origin: `${own}:8443` }],
  ["a longer", { origin: `${own}.elsewhere.test` }],
  ["a path's", { origin: `${own}/` }],
  ["the other scheme's", { origin: own.replace("https:", "http:") }],
  ["an upper-case", { origin: own.toUpperCase() }],
  ["a doubled", { origin: `${own}, ${own}` }],
];

describe("a session cookie (spec/decisions.md 35, 55)", () => {
  let service: Service;
  let ann: Person;
  let cookie: string;
  let origin: string;
  let taskId: string;
  beforeAll(async () => {
    service = await openService({ idle: true });
    ann = await service.person();
    ({ cookie, origin } = (await ann.session()).headers);
    taskId = String((await ann.v2("task.create", { message: { content: "Hello" } })).body["task_id"]);
    await service.store.change((tx) =>
      tx.tasks.advance(taskId, { now: Date.now(), set: { status: "stopped" } }),
    );
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** Sends the cookie. */
  const call = (path: string, request: RawRequest = {}) =>
    send(`${service.url}${path}`, { ...request, headers: { origin, cookie, ...request.headers } });
  const typed = (type: string, more: Readonly<Record<string, string>> = {}) => ({
    headers: { "content-type": type, ...more },
  });
  const watchJson = () => framed(Buffer.from(JSON.stringify({ taskId, untilSettled: true })));
  const watchBinary = () =>
    framed(toBinary(WatchTaskRequestSchema, create(WatchTaskRequestSchema, { taskId, untilSettled: true })));

  /** The reply shows the caller's account or its task: the cookie was accepted. */
  const isAccepted = ({ bytes }: RawReply) => bytes.includes(ann.accountId) || bytes.includes("Hello");

  test("is accepted with the exact origin of the pages, by POST, with Connect's content types", async () => {
    for (const type of ["application/json", "application/json; charset=utf-8"])
      expect(isAccepted(await call(me, { ...typed(type), body: "{}" }))).toBe(true);
    expect(isAccepted(await call(me, { ...typed("application/proto"), body: "" }))).toBe(true);
    for (const [type, body] of [
      ["application/connect+json", watchJson()] as const,
      ["application/connect+proto", watchBinary()] as const,
    ])
      expect(isAccepted(await call(watch, { ...typed(type), body }))).toBe(true);
  });

  test.each(
    foreignOrigins("https://platform.test"),
  )("with %s origin opens no operation, unary or stream", async (_what, headers) => {
    expect(origin).toBe("https://platform.test");
    const opened: string[] = [];
    for (const { method } of forSessions) {
      const isStream = method.methodKind === "server_streaming";
      const type = isStream ? "application/connect+json" : "application/json";
      const body = isStream ? framed(Buffer.from("{}")) : "{}";
      // With the header, dataexport.v1 answers as Connect.
      const sent = { cookie, ...headers, "content-type": type, "connect-protocol-version": "1" };
      const reply = await send(`${service.url}/${rpcName(method)}`, { headers: sent, body });
      if (!reply.text.includes("unauthenticated") || isAccepted(reply)) opened.push(rpcName(method));
    }
    expect(opened).toEqual([]);
  });

  test.each([
    ...[
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=a",
      "application/jsonx",
      "text/json",
    ],
    ...["application/connect+json", "application/connect+proto"],
    ...[
      "application/grpc",
      "application/grpc+json",
      "application/grpc-web+json",
      "application/grpc-web+proto",
      "application/grpc-web-text",
    ],
  ])("opens no unary call with %s", async (type) => {
    for (const body of ["{}", framed(Buffer.from("{}")), ""]) {
      const reply = await call(me, { ...typed(type), body });
      expect([isAccepted(reply), reply.status === 200 && reply.headers.get("grpc-status") === "0"]).toEqual([
        false,
        false,
      ]);
    }
  });

  test.each([
    ...[
      "application/json",
      "application/proto",
      "text/plain",
      "text/event-stream",
      "application/x-www-form-urlencoded",
    ],
    ...["application/connect", "application/connect+xml", "application/connect+jsonx"],
    ...[
      "application/grpc-web+json",
      "application/grpc-web+proto",
      "application/grpc-web-text",
      "application/grpc+json",
    ],
  ])("opens no stream with %s", async (type) => {
    for (const body of [watchJson(), watchBinary(), JSON.stringify({ taskId, untilSettled: true })])
      expect(isAccepted(await call(watch, { ...typed(type), body }))).toBe(false);
  });

  test("opens neither gRPC nor Connect's stream both ways over HTTP/2", async () => {
    const grpc = await sendHttp2(`${service.url}${watch}`, {
      headers: { origin, cookie, "content-type": "application/grpc+json", te: "trailers" },
      body: watchJson(),
    });
    expect([isAccepted(grpc), grpc.headers.get("grpc-status")]).toEqual([false, "16"]);
    const attach = await sendHttp2(`${service.url}/browser.v2.BrowserService/Attach`, {
      headers: { origin, cookie, "content-type": "application/connect+json" },
      body: framed(Buffer.from("{}")),
    });
    expect(attach.text).toContain("unauthenticated");
  });

  test("grants no access by GET, on v2, v1, the Responses API and server-sent events", async () => {
    const query = new URLSearchParams({ encoding: "json", message: "{}", connect: "v1" });
    const closed: readonly (readonly [path: string, request: RawRequest])[] = [
      [`${me}?${query}`, { method: "GET" }],
      [`${me}?${query}`, { method: "GET", ...typed("application/json") }],
      ["/v2/user.me", { method: "GET" }],
      ["/v2/user.me", { ...typed("application/json"), body: "{}" }],
      [
        `/v2/task.watch?task_id=${taskId}&until_settled=true`,
        { method: "GET", headers: { accept: "text/event-stream" } },
      ],
      [
        "/v2/task.watch",
        { ...typed("application/json"), body: JSON.stringify({ task_id: taskId, until_settled: true }) },
      ],
      ["/v2/task.watch", { ...typed("application/connect+json"), body: watchJson() }],
      ["/v1/tasks", { method: "GET" }],
      ["/v1/tasks", { ...typed("application/json"), body: JSON.stringify({ prompt: "Hello" }) }],
      ["/v1/responses", { ...typed("application/json"), body: JSON.stringify({ input: "Hello" }) }],
      ["/dataexport.v1.EnterpriseDataExportService/ListTasks", { ...typed("text/plain"), body: "{}" }],
      ["/dataexport.v1.EnterpriseDataExportService/ListTasks", { ...typed("application/json"), body: "{}" }],
    ];
    for (const [path, request] of closed) {
      const reply = await call(path, request);
      expect([path, reply.status, isAccepted(reply)]).toEqual([path, 401, false]);
    }
  });

  test("grants no access with a query, twice, or next to an empty cookie of the same name", async () => {
    const json = { ...typed("application/json"), body: "{}" };
    const name = cookie.split("=")[0] ?? "";
    for (const cookies of [
      `${cookie}; ${cookie}`,
      `${name}=; ${cookie}`,
      `${cookie}x`,
      cookie.replace(name, `x${name}`),
    ])
      expect(isAccepted(await call(me, { ...json, headers: { ...json.headers, cookie: cookies } }))).toBe(
        false,
      );
    expect(isAccepted(await call(`${me}?a`, json))).toBe(false);
  });
});
