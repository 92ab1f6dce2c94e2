import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { connectUnary } from "../../src/http/connect-unary.ts";
import { requestReader } from "../../src/http/request.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { type RawRequest, send } from "../wires/raw.ts";

const app = fastify({ forceCloseConnections: true });
let url: string;

/** Accepts calls and refuses them; calls that it passes on are answered with 299. */
beforeAll(async () => {
  app.addHook(
    "onRequest",
    connectUnary({
      operations: operationTable(),
      admit: () => Promise.reject(new Failure("unauthenticated", "access is refused")),
      performer: {
        recorded: () => Promise.reject(new Error("not asked")),
        perform: () => Promise.reject(new Error("not asked")),
        stream: () => Promise.reject(new Error("not asked")),
        reserve: () => undefined,
        converse: () => {
          throw new Error("not asked");
        },
      },
      readRequest: requestReader(() => "req_1", null),
      readSession: () => null,
      report: () => undefined,
      bodyLimit: 100,
    }),
  );
  app.addContentTypeParser("*", (_request, _body, done) => done(null));
  app.removeContentTypeParser("application/json");
  app.all("/*", (_request, reply) => reply.code(299).send());
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

const json = { "content-type": "application/json" };
const getTask = "task.v2.TaskService/GetTask";
const statusOf = async (path: string, call: RawRequest) => (await send(`${url}/${path}`, call)).status;

test.each<[string, RawRequest]>([
  ["JSON", { headers: json, body: "{}" }],
  [
    "JSON that names its charset",
    { headers: { "content-type": "application/json; charset=utf-8" }, body: "{}" },
  ],
  ["a binary message", { headers: { "content-type": "application/proto" }, body: "" }],
  ["a body in pieces", { headers: json, body: ["{", "}"] }],
  [
    "a client that would take a compressed answer",
    { headers: { ...json, "accept-encoding": "gzip, br" }, body: "{}" },
  ],
])("a plain call is handled: %s", async (_what, call) => {
  expect(await statusOf(getTask, call)).toBe(401);
});

test.each<[string, string, RawRequest]>([
  ["a query", `${getTask}?a=1`, { headers: json, body: "{}" }],
  ["a GET", getTask, { method: "GET", headers: json }],
  ["a PUT", getTask, { method: "PUT", headers: json, body: "{}" }],
  ["a compressed body", getTask, { headers: { ...json, "content-encoding": "gzip" }, body: "{}" }],
  [
    "a body that is not compressed, and says so",
    getTask,
    { headers: { ...json, "content-encoding": "identity" }, body: "{}" },
  ],
  ["a deadline", getTask, { headers: { ...json, "connect-timeout-ms": "1000" }, body: "{}" }],
  ["gRPC-Web", getTask, { headers: { "content-type": "application/grpc-web+proto" }, body: "" }],
  ["the type of a stream", getTask, { headers: { "content-type": "application/connect+json" }, body: "" }],
  ["no type", getTask, { body: "{}" }],
  ["a stream", "task.v2.TaskService/WatchTask", { headers: json, body: "{}" }],
  ["an RPC that there is not", "task.v2.TaskService/BurnTask", { headers: json, body: "{}" }],
])("a call that is not plain is passed on: %s", async (_what, path, call) => {
  expect(await statusOf(path, call)).toBe(299);
});
