import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileReader } from "../../src/http/v2/message-reader.ts";
import { type Operation, operationTable, rpcName } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { type Keyring, keyringOf } from "./keyring.ts";
import { type RawRequest, send } from "./raw.ts";
import { sampleOf } from "./sample.ts";

const limit = 4096;
const origin = "https://app.example";

let service: Service;
let keyring: Keyring;
let key: Record<string, string>;

beforeAll(async () => {
  service = await openService({
    idle: true,
    clock: stillClock(quarterPast),
    disk: { free: 40, size: 100 },
    env: { BODY_LIMIT: String(limit), CORS_ORIGINS: origin, RATE_LIMITS: "off" },
  });
  keyring = await keyringOf(service);
  key = { "x-service-api-key": keyring.key("general") };
});
afterAll(() => service[Symbol.asyncDispose]());

const json = { "content-type": "application/json" };
const proto = { "content-type": "application/proto" };
const getTask = "task.v2.TaskService/GetTask";
const createProject = "project.v2.ProjectService/CreateProject";
const listProjects = "project.v2.ProjectService/ListProjects";

/** Secrets, signatures of links, ids and times. */
const ofThisCall =
  /\/[A-Za-z0-9_-]{43}|(sk|wk|secret)[-_][A-Za-z0-9_-]{43,49}|[2-9A-HJ-NP-Za-km-z]{22}|1[0-9]{9}/g;

const newSecret = /sk-[A-Za-z0-9_-]{43,49}/;

/** Some answers contain their request id; errors also in the bytes of `google.rpc.RequestInfo`. */
const requestIds = /req_[2-9A-HJ-NP-Za-km-z]{22}|(?<=RequestInfo","debug":\{[^}]*\},"value":")[\w+/]+/g;

/** Its answer has sizes, ages and checks, which change between two calls. */
const status = "installation.v1.InstallationService/GetStatus";

/** They create something unique. It is created before, so both calls are refused, or find it. */
const once: ReadonlySet<string> = new Set([
  "team.v2.TeamUserManagementApiV2Service/CreateUser",
  "observability.v2.EnterpriseComplianceV2Service/CreateExport",
  "dataimport.v1.ImportService/ImportProject",
  "dataimport.v1.ImportService/ImportTask",
  "dataimport.v1.ImportService/ImportTaskEvents",
  "dataimport.v1.ImportService/ImportFile",
  "dataimport.v1.ImportService/ImportWebhook",
]);

/** The answer with a new key has its last four characters too. */
function withoutMade(body: string): string {
  const lastFour = newSecret.exec(body)?.[0].slice(-4);
  const rest = body.replace(requestIds, "…").replace(ofThisCall, "…");
  return lastFour === undefined ? rest : rest.replace(lastFour, "…");
}

/** An answer without the parts that differ from call to call. */
function shown({ status, headers, bytes }: Awaited<ReturnType<typeof send>>, made: boolean) {
  const { "x-request-id": _id, date: _date, ...rest } = Object.fromEntries(headers);
  const body = bytes.toString("latin1");
  return { status, headers: rest, body: made ? withoutMade(body) : body.replace(requestIds, "…") };
}

/** The plain call, and one with a distant deadline, which Connect answers itself. */
async function expectAlike(
  rpc: string,
  call: RawRequest,
  { made = false } = {},
): Promise<Awaited<ReturnType<typeof send>>> {
  const plain = await send(`${service.url}/${rpc}`, call);
  const other = await send(`${service.url}/${rpc}`, {
    ...call,
    headers: { ...call.headers, "connect-timeout-ms": "600000" },
  });
  const compared = (reply: typeof plain) =>
    rpc === status && reply.status === 200 ? reply.headers.get("content-type") : shown(reply, made);
  expect(compared(plain)).toEqual(compared(other));
  expect(plain.headers.get("x-request-id")).toMatch(/^req_/);
  return plain;
}

const operations = operationTable().all.filter(({ method }) => method.methodKind === "unary");
const sample = ({ method }: Operation) =>
  create(method.input, compileReader(method.input)(sampleOf(method.input), "body"));

describe("a plain call is answered exactly as Connect answers it", () => {
  test.each(
    share(operations, 0, 2).map((operation) => [rpcName(operation.method), operation] as const),
  )("%s", async (rpc, operation) => {
    const { input } = operation.method;
    const opening = keyring.permitted(operation);
    const message = sample(operation);
    const made = { made: operation.isChange };
    if (once.has(rpc))
      await send(`${service.url}/${rpc}`, {
        headers: { ...opening, ...json },
        body: toJsonString(input, message),
      });
    await expectAlike(rpc, { headers: { ...opening, ...json }, body: toJsonString(input, message) }, made);
    await expectAlike(rpc, { headers: { ...opening, ...proto }, body: toBinary(input, message) }, made);
    await expectAlike(rpc, { headers: { ...keyring.forbidden(operation), ...json }, body: "{" });
    await expectAlike(rpc, { headers: { ...opening, ...json }, body: "{}" }, made);
    await expectAlike(rpc, { headers: json, body: "{}" });
  });

  test.each<[string, number, RawRequest]>([
    ["JSON that is none", 400, { headers: json, body: "{" }],
    ["no object", 400, { headers: json, body: "[]" }],
    ["no body", 400, { headers: json, body: "" }],
    ["a number for text", 400, { headers: json, body: '{"taskId":1}' }],
    ["text that is not UTF-8", 400, { headers: json, body: Uint8Array.from([0x22, 0xff, 0x22]) }],
    ["a binary message that ends early", 400, { headers: proto, body: Uint8Array.from([0x0a, 0x05, 0x61]) }],
    ["a field that breaks its rule", 400, { headers: json, body: '{"taskId":"a","waitSeconds":99}' }],
    ["a task that there is not", 404, { headers: json, body: '{"taskId":"2222222222222222222222"}' }],
    ["unknown members", 404, { headers: json, body: '{"taskId":"2222222222222222222222","x":{}}' }],
    ["two credentials", 400, { headers: { ...json, authorization: "Bearer x" }, body: "{}" }],
    ["a page of another origin", 400, { headers: { ...json, origin }, body: "{}" }],
    ["a page that may not call", 400, { headers: { ...json, origin: "https://evil.example" }, body: "{}" }],
  ])("%s", async (_what, status, call) => {
    expect((await expectAlike(getTask, { ...call, headers: { ...key, ...call.headers } })).status).toBe(
      status,
    );
  });

  test("a word that its enum does not have, which is never left out", async () => {
    const listTasks = "task.v2.TaskService/ListTasks";
    for (const wrong of ['{"status":"running"}', '{"statuses":["TASK_STATUS_RUNNING","RUNNING"]}']) {
      const { status, bytes } = await expectAlike(listTasks, { headers: { ...key, ...json }, body: wrong });
      expect([status, bytes.toString()]).toEqual([
        400,
        expect.stringMatching(/"status(es\[1\])?: must be one of TASK_STATUS_RUNNING, /),
      ]);
    }
    for (const right of ['{"status":"TASK_STATUS_RUNNING"}', '{"status":1}', '{"status":null}'])
      expect((await expectAlike(listTasks, { headers: { ...key, ...json }, body: right })).status).toBe(200);
  });

  test("a message of a plain text, as in v2", async () => {
    const createTask = "task.v2.TaskService/CreateTask";
    const headers = { ...key, ...json };
    const { status, bytes } = await expectAlike(
      createTask,
      { headers, body: '{"message":{"content":"Plain"}}' },
      { made: true },
    );
    const { body } = await keyring.owner.v2("task.listMessages", {
      task_id: JSON.parse(bytes.toString()).taskId,
    });
    expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('"Plain"')]);
    expect((await expectAlike(createTask, { headers, body: '{"message":{"content":7}}' })).status).toBe(400);
  });

  test("a body of more than BODY_LIMIT, in pieces", async () => {
    const body = ["x".repeat(limit), "x"];
    expect((await expectAlike(getTask, { headers: { ...key, ...json }, body })).json()).toMatchObject({
      code: "resource_exhausted",
    });
  });

  test("the answer of an earlier call with the same Idempotency-Key", async () => {
    const headers = { ...key, ...json, "idempotency-key": "garden-1" };
    await send(`${service.url}/${createProject}`, { headers, body: '{"name":"Garden"}' });
    const replayed = await expectAlike(createProject, { headers, body: '{"name":"Garden"}' });
    expect(replayed.headers.get("idempotent-replayed")).toBe("true");
    expect((await expectAlike(createProject, { headers, body: '{"name":"Other"}' })).status).toBe(409);
  });

  test.each([
    "gzip",
    "br",
    "zip, br;q=1, gzip",
    "identity",
    "zip",
    "",
  ])("to a client that takes %j, short or long", async (encoding) => {
    for (const _ of Array(3)) await keyring.owner.v2("project.create", { name: "G".repeat(200) });
    const headers = { ...key, "accept-encoding": encoding };
    await expectAlike(listProjects, { headers: { ...headers, ...json }, body: "{}" });
    await expectAlike(listProjects, { headers: { ...headers, ...proto }, body: "" });
    await expectAlike(listProjects, { headers: { ...headers, ...json }, body: '{"limit":1}' });
  });
});

test("a client that disconnects after half of its body is dropped, and the next is served", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  const head = `POST /${createProject} HTTP/1.1\r\nHost: a\r\nx-service-api-key: ${keyring.key("general")}\r\nContent-Type: application/json`;
  socket.end(`${head}\r\nContent-Length: 100\r\n\r\n{"name":"Half"`);
  await text(socket).catch(() => "");
  const { body } = await keyring.owner.v2("project.list");
  expect(JSON.stringify(body)).not.toContain("Half");
  expect(service.logged.filter(({ level }) => level === "error")).toEqual([]);
});
