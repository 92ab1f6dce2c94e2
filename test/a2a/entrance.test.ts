import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { fromJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { A2AService, SendMessageRequestSchema } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";

const rig = taskRig({ env: { RATE_LIMITS: "default", WATCH_LIMIT: "2" } });
const version = { "a2a-version": "1.0" };
const json = { "content-type": "application/json" };

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: unknown;
}

async function send(
  path: string,
  { headers = { ...rig.ann.headers, ...version }, method = "POST", body }: Sent = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(`${rig.service.url}/a2a${path}`, {
    method,
    headers: { ...(body === undefined ? {} : json), ...headers },
    ...(body !== undefined && { body: text }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the client sees them
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
}

const rpc = (method: string, params: object = {}, sent: Sent = {}) =>
  send("", { ...sent, body: { jsonrpc: "2.0", id: 7, method, params } });

/** The error of JSON-RPC with the reason of its details. */
const errorOf = ({ body }: Awaited<ReturnType<typeof send>>) => [
  body.error?.code,
  body.error?.data?.[0]?.reason,
];
const grpc = (headers: Readonly<Record<string, string>> = { ...rig.ann.headers, ...version }) => {
  const client = createClient(A2AService, createGrpcTransport({ baseUrl: rig.service.url }));
  return { client, options: { headers } };
};
const refusal = async (call: Promise<unknown>): Promise<ConnectError> => {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  return ConnectError.from(thrown);
};

describe("the entrance of A2A (spec/api.md 8.107)", () => {
  test("a request without version counts as 0.3 and is refused in each binding; the query can have the version", async () => {
    const { headers } = rig.ann;
    for (const old of [{}, { "a2a-version": "0.3" }, { "a2a-version": "" }, { "a2a-version": "2.0" }]) {
      const sent = { headers: { ...headers, ...old } };
      expect(errorOf(await rpc("ListTasks", {}, sent))).toEqual([-32_009, "VERSION_NOT_SUPPORTED"]);
      const rest = await send("/tasks", { ...sent, method: "GET" });
      expect([rest.status, rest.body.error.details[0].reason]).toEqual([400, "VERSION_NOT_SUPPORTED"]);
      const { client, options } = grpc(sent.headers);
      const error = await refusal(client.listTasks({}, options));
      expect(error.code).toBe(Code.FailedPrecondition);
      expect(JSON.stringify(error.details)).toContain("google.rpc.ErrorInfo");
    }
    expect((await send("/tasks?A2A-Version=1.0", { headers, method: "GET" })).status).toBe(200);
    expect(
      (await rpc("ListTasks", {}, { headers: { ...headers, "a2a-version": "1.0.3" } })).body.result.tasks,
    ).toEqual([]);
  });

  test("a request without a credential, with a session, a key of another kind or a token for MCP is refused", async () => {
    const session = (await rig.ann.session()).headers;
    const siem = await rig.service.person({ kind: "siem" });
    const mcp = await tokenOf(rig.service, rig.ann, { forMcp: true });
    for (const [headers, status, code] of [
      [{}, 401, Code.Unauthenticated],
      [{ authorization: "Bearer nonsense" }, 401, Code.Unauthenticated],
      [session, 401, Code.Unauthenticated],
      [mcp.headers, 401, Code.Unauthenticated],
      [siem.headers, 403, Code.PermissionDenied],
    ] as const) {
      const sent = { headers: { ...headers, ...version } };
      const answer = await rpc("ListTasks", {}, sent);
      expect(answer).toMatchObject({ status, body: { jsonrpc: "2.0", id: null, error: { code: -32_000 } } });
      if (status === 401) expect(answer.headers.get("www-authenticate")).toContain("Bearer");
      expect((await send("/tasks", { ...sent, method: "GET" })).body).toMatchObject({
        error: { code: status },
      });
      const { client, options } = grpc(sent.headers);
      expect((await refusal(client.listTasks({}, options))).code).toBe(code);
    }
    expect((await rpc("ListTasks")).headers.get("ratelimit-limit")).toBe("600");
  });

  test("without A2A=on there are no public cards, and callers with a credential have one", async () => {
    for (const path of ["/.well-known/agent-card.json", "/a2a/manus-1.6/.well-known/agent-card.json"])
      expect((await fetch(`${rig.service.url}${path}`)).status).toBe(404);
    expect((await send("/extendedAgentCard", { method: "GET" })).body).toMatchObject({
      name: "Standard",
      signatures: [{}],
    });
  });

  test("malformed, unknown and long requests have the errors of the protocol", async () => {
    const raw = async (body: string, headers = {}) =>
      send("", { body, headers: { ...rig.ann.headers, ...version, ...headers } });
    expect((await raw("{")).body).toMatchObject({ id: null, error: { code: -32_700 } });
    expect((await raw("{")).body.error.data[0].reason).toBe("PARSE_ERROR");
    for (const body of [
      "[]",
      "{}",
      '{"jsonrpc":"2.0","method":"GetTask"}',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"method":7}',
    ])
      expect(errorOf(await raw(body))).toEqual([-32_600, "INVALID_REQUEST"]);
    expect(errorOf(await rpc("message/send"))).toEqual([-32_601, "METHOD_NOT_FOUND"]);
    const parts = [{ text: "a" }];
    for (const params of [
      ...[
        {},
        { message: { parts: "x" } },
        { message: { messageId: "m", role: "ROLE_USER" } },
        { message: { messageId: "m", parts } },
      ],
      ...[
        { message: { role: "ROLE_USER", parts } },
        { message: { messageId: "m", role: "ROLE_USR", parts } },
      ],
      { message: { messageId: "m", role: "ROLE_USER", contextId: "c".repeat(129), parts } },
    ])
      expect(errorOf(await rpc("SendMessage", params))).toEqual([-32_602, "INVALID_PARAMS"]);
    for (const params of [{ status: "WORKING" }, { status: 99 }, { historyLength: -1 }])
      expect(errorOf(await rpc("ListTasks", params))).toEqual([-32_602, "INVALID_PARAMS"]);
    expect((await send("/tasks?status=WORKING", { method: "GET" })).body.error.message).toMatch(
      /^status: must be one of TASK_STATE_SUBMITTED, /,
    );
    const unknownAgent = {
      tenant: "nobody",
      message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "a" }] },
    };
    expect(errorOf(await rpc("SendMessage", unknownAgent))).toEqual([-32_602, "INVALID_PARAMS"]);
    expect((await raw("{}", { "content-type": "text/plain" })).body.error.code).toBe(-32_000);
    expect((await raw(`{"a":"${"x".repeat(28 * 1_048_576)}"}`)).body.error.message).toContain("larger than");
    expect((await raw(`[${"0,".repeat(100_001)}0]`)).body.error.message).toContain("100000");
    expect((await send("/nowhere", { method: "GET" })).status).toBe(404);
    expect((await send("/message:send", { method: "GET" })).status).toBe(400);
    expect((await send("/tasks?pageSize=0", { method: "GET" })).body.error.status).toBe("INVALID_ARGUMENT");
    expect((await send("", { method: "PUT", body: {} })).status).toBe(400);
    for (const method of ["PROPFIND", "QUERY"]) {
      const { status, headers, body } = await send("", { method });
      expect([status, headers.get("allow"), body.jsonrpc, body.error.code]).toEqual([
        400,
        "POST",
        "2.0",
        -32_000,
      ]);
      const below = await send("/tasks", { method });
      expect([below.headers.get("allow"), below.body.error.code]).toEqual([
        "GET, POST, DELETE",
        below.status,
      ]);
    }
    expect((await send("/tasks/%zz", { method: "GET" })).body).toMatchObject({
      error: { code: 400, status: "INVALID_ARGUMENT" },
    });
  });
});

/** A message as JSON. */
const message = (parts: object | string, more: object = {}) => ({
  message: {
    messageId: randomUUID(),
    role: "ROLE_USER",
    parts: [typeof parts === "string" ? { text: parts } : parts],
    ...more,
  },
});
const states = (body: {
  readonly result: { readonly tasks: readonly { readonly status: { readonly state: string } }[] };
}) => body.result.tasks.map(({ status }) => status.state);

describe("tasks of A2A (spec/api.md 8.107)", () => {
  test("an approval is not decided by a key, nor by a token without approve:task, nor by text", async () => {
    const token = await tokenOf(rig.service, rig.ann);
    for (const who of [rig.ann, token]) {
      const headers = { ...who.headers, ...version };
      const { body } = await rpc("SendMessage", message("[[confirm terminalExecute]] [[say Done]]"), {
        headers,
      });
      const { id: taskId, status } = body.result.task;
      expect(status).toMatchObject({ state: "TASK_STATE_AUTH_REQUIRED" });
      const decision = {
        data: { event_id: status.message.parts.at(-1).data.event_id, input: { accept: true } },
      };
      for (const parts of [decision, "yes"])
        expect((await rpc("SendMessage", message(parts, { taskId }), { headers })).body.error).toMatchObject({
          code: -32_000,
          data: [{ reason: "PERMISSION_DENIED" }],
        });
      expect((await send(`/tasks/${taskId}`, { method: "GET", headers })).body.status.state).toBe(
        "TASK_STATE_AUTH_REQUIRED",
      );
    }
    const waiting = await rpc("ListTasks", { status: "TASK_STATE_AUTH_REQUIRED" });
    expect(states(waiting.body)).toEqual(["TASK_STATE_AUTH_REQUIRED", "TASK_STATE_AUTH_REQUIRED"]);
  });

  test("a task that is over takes no message, subscription or cancel; its context continues; other accounts see nothing", async () => {
    const bo = await rig.service.person();
    const headers = { ...bo.headers, ...version };
    const parts = [
      { text: "Say hello" },
      { data: { a: 1 } },
      { raw: Buffer.from("tea,12").toString("base64"), filename: "sums.csv", mediaType: "text/csv" },
    ];
    const sent = { message: { messageId: "m", role: "ROLE_USER", parts } };
    const { body } = await rpc("SendMessage", sent, { headers });
    const { id, contextId, status, history } = body.result.task;
    expect(status.state).toBe("TASK_STATE_COMPLETED");
    expect(history[0].parts).toMatchObject([
      { text: 'Say hello\n{"a":1}' },
      { filename: "sums.csv", mediaType: "text/csv" },
    ]);
    expect(errorOf(await rpc("SendMessage", message("More", { taskId: id }), { headers }))[1]).toBe(
      "UNSUPPORTED_OPERATION",
    );
    expect(errorOf(await rpc("SubscribeToTask", { id }, { headers }))[1]).toBe("UNSUPPORTED_OPERATION");
    expect(errorOf(await rpc("CancelTask", { id }, { headers }))).toEqual([-32_002, "TASK_NOT_CANCELABLE"]);
    const next = await rpc(
      "SendMessage",
      { ...message("[[say Again]]", { contextId }), configuration: { historyLength: 1 } },
      { headers },
    );
    expect(next.body.result.task).toMatchObject({
      id,
      status: { state: "TASK_STATE_COMPLETED" },
      history: [{}],
    });
    const mismatch = message("More", { contextId: "other", taskId: id });
    expect(errorOf(await rpc("SendMessage", mismatch, { headers }))[1]).toBe("INVALID_PARAMS");
    for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
      expect(errorOf(await rpc(method, { id }))).toEqual([-32_001, "TASK_NOT_FOUND"]);
    expect((await send(`/tasks/${id}`, { method: "GET" })).status).toBe(404);
    expect((await send(`/tasks?contextId=${id}`, { method: "GET" })).body).toEqual({
      tasks: [],
      nextPageToken: "",
      pageSize: 50,
      totalSize: 0,
    });
  });

  test("a message that is sent again, also at the same time, makes one task or one answer of the same credential", async () => {
    const eve = await rig.service.person();
    const headers = { ...eve.headers, ...version };
    const other = { ...(await tokenOf(rig.service, eve)).headers, ...version };
    const at = { configuration: { returnImmediately: true } };
    const first = { ...message("[[ask Which colour?]] [[say Done]]"), ...at };
    const sentBy = async (body: object, by: Readonly<Record<string, string>> = headers) =>
      (await rpc("SendMessage", body, { headers: by })).body;
    const answers = await Promise.all(Array.from({ length: 5 }, () => sentBy(first)));
    expect(answers.map(({ error }) => error)).toEqual(answers.map(() => undefined));
    const [taskId, ...others] = new Set(answers.map(({ result }) => result.task.id));
    expect(others).toEqual([]);
    const { client, options } = grpc(headers);
    const request = fromJson(SendMessageRequestSchema, JSON.parse(JSON.stringify(first)));
    expect((await client.sendMessage(request, options)).payload.value).toMatchObject({ id: taskId });
    expect((await send("/message:send", { headers, body: first })).body.task.id).toBe(taskId);
    expect((await sentBy(first, other)).result.task.id).not.toBe(taskId);
    await untilStatus(rig.service.store, String(taskId), "waiting");
    const changed = { message: { ...first.message, parts: [{ text: "Another" }] } };
    expect((await sentBy(changed)).error.data[0].reason).toBe("ALREADY_EXISTS");

    // The repeats meet a task that waits, runs or is over.
    const answer = { ...message("blue", { taskId }), ...at };
    const early = await Promise.all([sentBy(answer), sentBy(answer), sentBy(answer)]);
    await untilStatus(rig.service.store, String(taskId), "stopped");
    for (const { result } of [...early, await sentBy(answer)]) expect(result.task.id).toBe(taskId);
    expect((await sentBy(message("blue", { taskId }))).error.data[0].reason).toBe("UNSUPPORTED_OPERATION");
    const events = (await eve.v2("task.listMessages", { task_id: taskId, limit: 200 })).body["messages"];
    expect(events.filter(({ type }: { readonly type: string }) => type === "user_message")).toHaveLength(2);
    expect((await eve.v2("task.list", {})).body["data"]).toHaveLength(2);
  });

  test("a context of the client is kept for each of its tasks, and lists filter by it, within the account only", async () => {
    const [bo, eve] = [await rig.service.person(), await rig.service.person()];
    const sentBy = async (by: typeof bo, more: object, content = "[[say Done]]") =>
      (await rpc("SendMessage", message(content, more), { headers: { ...by.headers, ...version } })).body;
    const contextId = "trip to Oslo";
    const one = (await sentBy(bo, { contextId })).result.task;
    const two = (await sentBy(bo, { contextId }, "[[ask Where?]]")).result.task;
    expect([one.contextId, two.contextId, one.id === two.id]).toEqual([contextId, contextId, false]);
    for (const each of [one.status.message, ...one.history])
      expect(each).toMatchObject({ taskId: one.id, contextId });
    const answered = (await sentBy(bo, { taskId: two.id, contextId })).result.task;
    expect(answered).toMatchObject({ id: two.id, contextId });
    expect((await sentBy(bo, { taskId: two.id, contextId: "another" })).error.code).toBe(-32_602);
    // The id of a task is a context that continues it.
    expect((await sentBy(bo, { contextId: one.id })).result.task).toMatchObject({ id: one.id, contextId });
    const listed = async (by: typeof bo, query: string) =>
      (await send(`/tasks?${query}`, { method: "GET", headers: { ...by.headers, ...version } })).body;
    const inContext = await listed(bo, `contextId=${encodeURIComponent(contextId)}`);
    expect([inContext.totalSize, new Set(inContext.tasks.map(({ id }: { id: string }) => id))]).toEqual([
      2,
      new Set([one.id, two.id]),
    ]);
    expect((await listed(bo, `contextId=${one.id}`)).tasks).toMatchObject([{ id: one.id }]);
    // Of another account the same words are another context, and the id of a task too.
    const own = (await sentBy(eve, { contextId })).result.task;
    expect((await sentBy(eve, { contextId: one.id })).result.task.id).not.toBe(one.id);
    expect((await listed(eve, `contextId=${encodeURIComponent(contextId)}`)).tasks).toMatchObject([
      { id: own.id },
    ]);
    const frames = await fetch(`${rig.service.url}/a2a/tasks/${two.id}:subscribe`, {
      headers: { ...bo.headers, ...version, "last-event-id": "1" },
    });
    const contexts = [...(await frames.text()).matchAll(/"contextId":"([^"]*)"/g)].map(
      ([, context]) => context,
    );
    expect(new Set(contexts)).toEqual(new Set([contextId]));
  });

  test("lists have pages and filters", async () => {
    const cy = await rig.service.person();
    for (const name of ["one", "two", "three"]) await rig.runToEnd(name, {}, cy);
    const read = async (query: string) =>
      (await send(`/tasks?${query}`, { method: "GET", headers: { ...cy.headers, ...version } })).body;
    const first = await read("pageSize=2");
    expect([first.tasks.length, first.totalSize, first.pageSize]).toEqual([2, 3, 2]);
    const second = await read(`pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`);
    expect(new Set([...first.tasks, ...second.tasks].map(({ id }) => id)).size).toBe(3);
    expect((await read("status=TASK_STATE_FAILED")).tasks).toEqual([]);
    const [newest] = (await read("pageSize=1")).tasks;
    const since = (ms: number) =>
      read(`statusTimestampAfter=${new Date(Date.parse(newest.status.timestamp) + ms).toISOString()}`);
    expect([(await since(900)).tasks.length > 0, (await since(1_000)).tasks]).toEqual([true, []]);
    expect((await read("status=TASK_STATE_COMPLETED")).tasks).toHaveLength(3);
    const shownWith = async (query: string) =>
      (await read(`pageSize=1&${query}`)).tasks.map((task: object) => Object.keys(task).toSorted());
    const bare = ["contextId", "id", "status"];
    expect(await shownWith("")).toEqual([bare]);
    expect(await shownWith("historyLength=0")).toEqual([bare]);
    expect(await shownWith("includeArtifacts=true")).toEqual([["artifacts", ...bare]]);
    expect(await shownWith("historyLength=1")).toEqual([["contextId", "history", "id", "status"]]);
    const whole = await read("pageSize=100&includeArtifacts=true&historyLength=1");
    expect([whole.pageSize, whole.tasks[0]]).toMatchObject([
      20,
      { artifacts: [{}], history: [{ role: "ROLE_AGENT" }] },
    ]);
    const { client, options } = grpc({ ...cy.headers, ...version });
    expect((await client.listTasks({ status: TaskState.TASK_STATE_COMPLETED }, options)).totalSize).toBe(3);
  });

  test("open streams count toward WATCH_LIMIT, and end with their client", async () => {
    const dee = await rig.service.person();
    const headers = { ...dee.headers, ...version };
    const id = await rig.create("[[forever]]", {}, dee);
    const cut = new AbortController();
    const open = () => fetch(`${rig.service.url}/a2a/tasks/${id}:subscribe`, { headers, signal: cut.signal });
    const texts = (await Promise.all([open(), open(), open()])).map((answer) => answer.text());
    const ended = await Promise.race(texts);
    expect(ended).toMatch(/"task":.*event: error\ndata: .*RESOURCE_EXHAUSTED/s);
    cut.abort();
    await Promise.allSettled(texts);
    const state = async () =>
      (await rpc("SendMessage", message("[[say Hi]]"), { headers })).body.result?.task.status.state;
    await expect.poll(state).toBe("TASK_STATE_COMPLETED");
  });
});

/** The files that are loaded with a file: its imports, and theirs, without those that run later. */
function loadedWith(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, target = ""] of readFileSync(path, "utf8").matchAll(
    /^(?:import|export) (?!type )[^;]*?from "([^"]+)"/gm,
  ))
    if (target.startsWith(".")) loadedWith(join(dirname(path), target), seen);
  return seen;
}

test("a server loads the methods with the first request, and not before", () => {
  const loaded = loadedWith("src/serve.ts");
  expect([...loaded]).toContain("src/protocols/a2a/http/route.ts");
  for (const file of ["methods", "updates", "send", "push/notifications", "http/handler", "http/requests"])
    expect([...loaded]).not.toContain(`src/protocols/a2a/${file}.ts`);
});
