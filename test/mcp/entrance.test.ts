import { type IncomingHttpHeaders, request } from "node:http";
import { describe, expect, test } from "vitest";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";
import { mcpClient } from "./client.ts";
import { toolCall } from "./post.ts";

const rig = taskRig({ env: { CORS_ORIGINS: "https://pages.example.com", RATE_LIMITS: "default" } });

const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

interface Sent {
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
}

/** A request with any Host, which `fetch` would replace. */
const send = ({ url = rig.service.url, headers = {}, method = "POST", body = list }: Sent) =>
  new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method, headers: { ...json, ...headers } }, (answer) => {
      let text = "";
      answer
        .on("data", (part) => (text += part))
        .on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    sent.on("error", reject).end(method === "POST" ? body : undefined);
  });

describe("the entrance /mcp (spec/api.md 8.103)", () => {
  test("a request without credential, or with a bad one, is refused with a challenge", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer nonsense" },
      { "x-service-api-key": "sk-nonsense" },
    ]) {
      const answer = await send({ headers });
      expect(answer).toMatchObject({
        status: 401,
        headers: { "www-authenticate": expect.stringContaining("Bearer") },
      });
      expect(JSON.parse(answer.body)).toMatchObject({
        jsonrpc: "2.0",
        id: null,
        error: { data: { code: "permission_denied" } },
      });
    }
  });

  test("a session never counts, nor does a worker's credential or a key of another kind", async () => {
    const { headers } = await rig.ann.session();
    // The origin of the console is refused before the credential.
    expect((await send({ headers })).status).toBe(403);
    expect((await send({ headers: { cookie: headers.cookie } })).status).toBe(401);
    const siem = await rig.service.person({ kind: "siem" });
    expect((await send({ headers: siem.headers })).status).toBe(403);
  });

  test("a key and a token are accepted", async () => {
    const token = await tokenOf(rig.service, rig.ann, { forMcp: true });
    for (const headers of [rig.ann.headers, token.headers, { authorization: `Bearer ${rig.ann.key}` }])
      expect((await send({ headers })).status).toBe(200);
  });

  test("a token for the API is refused here, and a token for this address everywhere else; both refusals say how to sign in", async () => {
    const [api, mcp] = [
      await tokenOf(rig.service, rig.ann),
      await tokenOf(rig.service, rig.ann, { forMcp: true }),
    ];
    const refused = await send({ headers: api.headers });
    expect(refused.status).toBe(401);
    expect(refused.headers["www-authenticate"]).toMatch(
      /^Bearer error="invalid_token", resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp", scope="create_task"$/,
    );
    expect((await send({ headers: {} })).headers["www-authenticate"]).toMatch(/^Bearer resource_metadata="/);
    expect((await mcp.v2("task.list")).status).toBe(401);
    expect((await api.v2("task.list")).status).toBe(200);
  });

  test("a token without the scope of a tool gets the scope to request, and never approve:task (RFC 6750 3.1)", async () => {
    const { headers } = await tokenOf(rig.service, rig.ann, { scopes: ["create_project"], forMcp: true });
    const call = (name: string) => send({ headers, body: JSON.stringify(toolCall(name, {})) });
    const refused = await call("task_wait");
    expect(refused).toMatchObject({
      status: 403,
      body: expect.stringContaining("insufficient_scope: the tool needs one of [create_task"),
    });
    expect(refused.headers["www-authenticate"]).toMatch(
      /^Bearer error="insufficient_scope", resource_metadata="[^"]+\/\.well-known\/oauth-protected-resource\/mcp", scope="create_task"$/,
    );
    for (const name of ["task_confirm_action", "no_such_tool"])
      expect(await call(name)).toMatchObject({ status: 200, body: expect.stringContaining("unknown tool") });
    expect((await call("project_list")).status).toBe(200);
  });

  test("the name of another host and the origin of another page are refused", async () => {
    const { headers } = rig.ann;
    for (const host of ["evil.example.com", "127.0.0.1.evil.example.com:80", "localhost@evil.example.com"])
      expect(await send({ headers: { ...headers, host } })).toMatchObject({
        status: 403,
        body: expect.stringContaining("Host"),
      });
    for (const origin of ["https://evil.example.com", "null", "http://127.0.0.1:9"])
      expect(await send({ headers: { ...headers, origin } })).toMatchObject({
        status: 403,
        body: expect.stringContaining("Origin"),
      });
    expect((await send({ headers: { ...headers, origin: "https://pages.example.com" } })).status).toBe(200);
  });

  test("other methods, batches, other types and long bodies are refused", async () => {
    const { headers } = rig.ann;
    for (const method of ["GET", "DELETE", "PROPFIND", "QUERY"]) {
      const refused = await send({ headers, method });
      expect(refused).toMatchObject({ status: 405, headers: { allow: "POST" } });
      expect(JSON.parse(refused.body)).toMatchObject({
        ...{ jsonrpc: "2.0", id: null },
        error: { code: -32_000, data: { doc_url: "https://platform.test/errors/method_not_allowed" } },
      });
    }
    expect((await send({ headers, body: `[${list}]` })).status).toBe(400);
    expect((await send({ headers, body: "{" })).status).toBe(400);
    expect((await send({ headers: { ...headers, "content-type": "text/plain" } })).status).toBe(415);
    expect((await send({ headers, body: `{"a":"${"x".repeat(2 * 1_048_576)}"}` })).status).toBe(413);
  });

  test("requests count apart from all operations", async () => {
    // Otherwise a minute could begin between the calls.
    await using service = await openService({
      idle: true,
      clock: stillClock(),
      env: { RATE_LIMITS: "default" },
    });
    const { headers } = await service.person();
    expect((await send({ url: service.url, headers })).headers).toMatchObject({
      "ratelimit-limit": "600",
      "ratelimit-remaining": "599",
    });
    const client = await mcpClient(service.url, { headers });
    const results = [];
    for (let call = 0; call < 101; call += 1)
      results.push(await client.callTool({ name: "task_list", arguments: {} }));
    expect(results.map(({ isError }) => isError === true)).toEqual([...Array(100).fill(false), true]);
    expect(results.at(-1)?.content).toMatchObject([
      { text: expect.stringMatching(/rate_limited.*task\.list.*retry_after_seconds/s) },
    ]);
  });
});

test("each call of a tool has the audit row of its operation", async () => {
  const ann = await rig.service.person();
  const client = await mcpClient(rig.service.url, { headers: ann.headers });
  const { content } = await client.callTool({
    name: "task_create",
    arguments: { message: "[[forever]]", wait_seconds: 0 },
  });
  const { task_id: id } = JSON.parse((content as { text: string }[])[0]?.text ?? "");
  await client.callTool({ name: "task_stop", arguments: { task_id: id } });
  const { body } = await ann.v2("audit.list");
  const rows = body["data"].map(
    ({ operation, outcome }: Record<string, unknown>) => `${operation} ${outcome}`,
  );
  expect(rows.slice(0, 2)).toEqual(
    expect.arrayContaining([expect.stringContaining("StopTask"), expect.stringContaining("CreateTask")]),
  );
});

describe("a wait that ends early", () => {
  test("a client that cancels, and one that disconnects, leave the task as it is and hold nothing", async () => {
    const client = await mcpClient(rig.service.url, { headers: rig.ann.headers });
    const started = Promise.withResolvers<void>();
    const cancel = new AbortController();
    const call = client.callTool(
      { name: "task_create", arguments: { message: "[[say begun]] [[forever]]", wait_seconds: 600 } },
      { signal: cancel.signal, onprogress: () => started.resolve(), timeout: 60_000 },
    );
    await started.promise;
    cancel.abort();
    await expect(call).rejects.toThrow();
    const { body } = await rig.ann.v2("task.list", { status: "running" });
    const [{ id }] = body["data"];
    await rig.ann.v2("task.stop", { task_id: id });
    await untilStatus(rig.service.store, id, "stopped");
  });

  test("a wait that is over returns the running task, and task_wait continues", async () => {
    const client = await mcpClient(rig.service.url, { headers: rig.ann.headers });
    const read = async (name: string, input: Record<string, unknown>) =>
      JSON.parse(
        ((await client.callTool({ name, arguments: input })).content as { text: string }[])[0]?.text ?? "",
      );
    const first = await read("task_create", { message: "[[forever]]", wait_seconds: 0 });
    expect(first).toMatchObject({ status: "running", next: expect.stringContaining("task_wait") });
    const [waited] = await Promise.all([
      read("task_wait", { task_id: first.task_id, after_seq: first.last_seq }),
      read("task_stop", { task_id: first.task_id }),
    ]);
    expect(waited).toMatchObject({ status: "stopped", outcome: "stopped" });
  });
});
