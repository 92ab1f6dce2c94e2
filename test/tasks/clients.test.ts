import { describe, expect, test } from "vitest";
import { sample } from "../support/depth.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { taskRig } from "../support/task-rig.ts";
import { callV2, type V2Body } from "../support/wires.ts";

/** The rules for existing clients (spec/clients.md) about tasks on v2: one test per rule, by its number. */
describe("clients.md", () => {
  const rig = taskRig({ env: { BODY_LIMIT: "1048576" } });
  const limited = taskRig({ env: { RATE_LIMITS: "0.1" } });
  const url = (name: string) => `${rig.service.url}/v2/${name}`;
  const withKey = (headers: Readonly<Record<string, string>>) =>
    callV2(rig.service.url, "task.list", {}, { headers });

  test("1: the key is in x-service-api-key, or in x-manus-api-key", async () => {
    const { key } = rig.ann;
    expect(await withKey({ "x-service-api-key": key })).toMatchObject({ status: 200 });
    expect(await withKey({ "x-manus-api-key": key })).toMatchObject({ status: 200 });
    expect(await withKey({ "X-Manus-API-Key": key })).toMatchObject({ status: 200 });
  });

  test("2: the same key in both headers is one credential", async () => {
    const { key } = rig.ann;
    expect(await withKey({ "x-service-api-key": key, "x-manus-api-key": key })).toMatchObject({
      status: 200,
    });
  });

  test("3: Content-Type: application/json on a GET without a body is not an invalid body", async () => {
    const headers = { "x-manus-api-key": rig.ann.key, "content-type": "application/json" };
    expect((await fetch(url("task.list"), { headers })).status).toBe(200);
    expect((await fetch(url(`task.detail?task_id=${await rig.create()}`), { headers })).status).toBe(200);
  });

  test("4: bodies may be chunked; a query has booleans and numbers as text", async () => {
    const body = new Blob([JSON.stringify({ message: { content: "in " }, title: "chunks" })]).stream();
    const headers = { "x-manus-api-key": rig.ann.key, "content-type": "application/json" };
    const reply = await fetch(url("task.create"), {
      method: "POST",
      headers,
      body,
      duplex: "half",
    } as RequestInit);
    const { task_id } = (await reply.json()) as V2Body;
    await rig.reach(task_id, "stopped");
    const listed = async (query: string) =>
      (
        (await (
          await fetch(url(`task.listMessages?task_id=${task_id}&${query}`), { headers })
        ).json()) as V2Body
      )["messages"];
    expect(await listed("verbose=false&limit=2&order=asc")).toMatchObject([
      { type: "user_message" },
      { type: "status_update" },
    ]);
    expect(await listed("verbose=true&limit=3&order=asc")).toMatchObject([
      { type: "user_message" },
      { type: "status_update" },
      { type: "plan_update" },
    ]);
  });

  test("5: unknown members are ignored at every depth", async () => {
    const message = { content: [{ type: "text", text: "hi", annotations: [] }], role: "user" };
    const { body } = await rig.ann.v2("task.create", { message, labels: { a: 1 }, mode: "fast" });
    expect(body).toMatchObject({ ok: true });
    const { task_id } = body as V2Body & { task_id: string };
    expect(await rig.ann.v2("task.update", { task_id, hide_in_task_list: true })).toMatchObject({
      status: 200,
    });
    expect(await rig.row(task_id)).toMatchObject({ hidden: false });
    expect(await rig.ann.v2("task.list", { page: "1", state: "x" }, { method: "GET" })).toMatchObject({
      status: 200,
    });
  });

  test("6: every read operation accepts GET", async () => {
    const task_id = await rig.runToEnd();
    for (const [name, query] of [
      ["task.detail", { task_id }],
      ["task.listMessages", { task_id }],
      ["task.list", {}],
    ] as const) {
      const [get, post] = [await rig.ann.v2(name, query, { method: "GET" }), await rig.ann.v2(name, query)];
      expect({ ...get.body, request_id: "" }).toEqual({ ...post.body, request_id: "" });
      expect(get.status).toBe(200);
    }
  });

  test("7: ok and request_id on every answer, always JSON, ok true with 200 only", async () => {
    const task_id = await rig.create("[[forever]]");
    const key = { "x-service-api-key": rig.ann.key };
    const { key: siem } = await rig.service.person({ as: rig.ann, kind: "siem" });
    const post = (body: string, headers: object = {}) => ({
      method: "POST",
      headers: { ...key, "content-type": "application/json", ...headers },
      body,
    });
    const calls: [number, string, RequestInit][] = [
      [200, "task.create", post(JSON.stringify({ message: { content: "hi" } }))],
      [400, "task.create", post("{")],
      [401, "task.list", { headers: { "x-service-api-key": "sk-nobody" } }],
      [401, "task.list", {}],
      [404, "task.nothing", post("{}")],
      [404, "", { headers: key }],
      [404, "task.detail?task_id=nobody", { headers: key }],
      [404, "enterprise.compliance.export.detail?uid=x", { headers: { "x-api-key": siem } }],
      [405, "task.create", { headers: key }],
      [405, "task.list", { method: "DELETE", headers: key }],
      [412, "task.delete", post(JSON.stringify({ task_id }))],
      [413, "task.create", post(JSON.stringify({ message: { content: "y".repeat(2 ** 20) } }))],
      [415, "task.create", post("--x--", { "content-type": "multipart/form-data; boundary=x" })],
    ];
    for (const [status, path, init] of calls) {
      const reply = await fetch(url(path), init);
      expect(reply.headers.get("content-type"), path).toMatch(/^application\/json/);
      const body = (await reply.json()) as V2Body;
      expect({ path, status: reply.status, ok: body.ok }).toEqual({ path, status, ok: status === 200 });
      expect(body.request_id).toMatch(/^req_./);
      expect(reply.headers.get("x-request-id")).toBe(body.request_id);
    }
  });

  test("7, 9: over the limit the answer is 429 rate_limited, with the whole seconds to wait", async () => {
    // One call per minute; if a minute begins between two calls, the three still exceed the limit.
    const replies = [];
    for (let call = 0; call < 3; call += 1)
      replies.push(await limited.ann.v2("task.create", { message: { content: "hi" } }));
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({
      ok: false,
      request_id: expect.stringMatching(/^req_/),
      error: { code: "rate_limited" },
    });
    expect(refused?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  });

  test("9: the codes are matched literally", async () => {
    const code = async (name: string, body: object, headers = {}) =>
      (await rig.ann.v2(name, body, { headers })).body.error?.code;
    expect(await code("task.create", {})).toBe("invalid_argument");
    expect(await code("task.detail", { task_id: "nobody" })).toBe("not_found");
    expect((await callV2(rig.service.url, "task.list", {})).body.error?.code).toBe("permission_denied");
  });

  test("11: absent members are left out, never null", async () => {
    const task_id = await rig.runToEnd("Plan this. Then that.");
    const { body: made } = await rig.ann.v2("task.create", { message: { content: "hi" } });
    const { body: detail } = await rig.ann.v2("task.detail", { task_id });
    const { body: messages } = await rig.ann.v2("task.listMessages", { task_id });
    for (const body of [made, detail, messages]) expect(nulls(body)).toEqual([]);
    expect(made).not.toHaveProperty("share_url");
    expect(detail["task"]).not.toHaveProperty("credit_usage");
    expect(messages).not.toHaveProperty("next_cursor");
    // Only these two members may be null.
    const verbose = nulls(await rig.events(task_id)).map((path) => path.split(".").at(-1));
    expect(new Set(verbose)).toEqual(new Set(["started_at", "end_at"]));
  });

  test("12: integers are JSON numbers; an event's timestamp is in milliseconds, all other times in seconds", async () => {
    const task_id = await rig.runToEnd();
    const now = Date.now();
    const { task, last_seq } = (await rig.ann.v2("task.detail", { task_id })).body;
    for (const time of [task.created_at, task.updated_at])
      expect(Math.abs(time - now / 1000)).toBeLessThan(60);
    expect(Number.isInteger(last_seq)).toBe(true);
    for (const { timestamp, seq } of await rig.events(task_id)) {
      expect(Math.abs(timestamp - now)).toBeLessThan(60_000);
      expect(Number.isInteger(seq)).toBe(true);
    }
  });

  test("13: times increase strictly, and are later than the time of the request", async () => {
    const sent = Date.now();
    const task_id = await rig.runToEnd("One. Two.");
    const times = (await rig.events(task_id)).map((event) => event["timestamp"]);
    expect(times.every((time, i) => time > (i === 0 ? sent : times[i - 1]))).toBe(true);
  });

  test("14: newest first, the first status_update is the current state, and the last page has no next_cursor", async () => {
    const task_id = await rig.runToEnd();
    for (const state of ["stopped", "running"]) {
      if (state === "running") await rig.send(task_id, "[[forever]]");
      const { messages } = (await rig.ann.v2("task.listMessages", { task_id })).body;
      const newest = messages.find((event: V2Body) => event["type"] === "status_update");
      expect(newest.status_update.agent_status).toBe(state);
    }
    const seen: V2Body[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const query = { task_id, limit: "1", ...(cursor ? { cursor } : {}) };
      const { body }: { body: V2Body } = await rig.ann.v2("task.listMessages", query, { method: "GET" });
      seen.push(...body["messages"]);
      cursor = body["next_cursor"];
    }
    expect(seen).toEqual((await rig.ann.v2("task.listMessages", { task_id })).body["messages"]);
  });

  test("15: event ids are unique for the life of a task, across turns", async () => {
    const task_id = await rig.runToEnd();
    for (const content of ["again", "and again"]) {
      await rig.send(task_id, content);
      await rig.reach(task_id, "stopped");
    }
    const ids = (await rig.events(task_id)).map((event) => event["id"]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("16: sendMessage writes the message and a running status before it answers", async () => {
    const task_id = await rig.runToEnd();
    await rig.send(task_id, "[[forever]]");
    const { messages } = (await rig.ann.v2("task.listMessages", { task_id, limit: 2 })).body;
    expect(messages).toMatchObject([
      { status_update: { agent_status: "running" } },
      { user_message: { content: "[[forever]]" } },
    ]);
  });

  test("17: the returned values are available to the next call", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => rig.create("[[forever]]")));
    const replies = await Promise.all(made.map((task_id) => rig.ann.v2("task.detail", { task_id })));
    expect(replies.map(({ body }) => body["task"].id)).toEqual(made);
    const { data } = (await rig.ann.v2("task.list", { limit: 10 })).body;
    expect(new Set(data.map(({ id }: { id: string }) => id))).toEqual(new Set(made));
  });

  test("18: every wait except a question is answered by confirmAction, mostly with accept: true", async () => {
    const plain = [
      "gmailSendAction",
      "deployAction",
      "terminalExecute",
      "googleCalendarCreate",
      "webdevRunAction",
      "mapreduceAction",
    ];
    const replies = await Promise.all(
      plain.map(async (kind) => {
        const task_id = await rig.create(`[[confirm ${kind}]]`);
        await rig.reach(task_id, "waiting");
        const [newest] = await rig.events(task_id, { order: "desc", limit: 1 });
        const event_id = newest?.["status_update"].status_detail.waiting_for_event_id;
        return rig.ann.v2("task.confirmAction", { task_id, event_id, input: { accept: true } });
      }),
    );
    expect(replies.map(({ body }) => body["confirmed"])).toEqual(plain.map(() => true));
  });

  test.each([
    ["a value that fits", '[[value {"name": null}]]', true],
    ["a value that does not fit", '[[value {"name": 1}]]', false],
  ])("19: structured output of %s is a separate event after stopped, with type arrays", async (_, content, success) => {
    const structured_output_schema = {
      type: "object",
      properties: { name: { type: ["string", "null"] } },
      required: ["name"],
      additionalProperties: false,
    };
    const id = await rig.runToEnd(content, { structured_output_schema });
    const [stopped, result] = (await rig.events(id)).slice(-2);
    expect(stopped).toMatchObject({ type: "status_update", status_update: { agent_status: "stopped" } });
    expect(result).toMatchObject({
      type: "structured_output_result",
      structured_output_result: { success, value: { name: null } },
    });
  });

  test("23: agent-default-main_task and agent-default are the shortcuts of the default agent", async () => {
    expect(
      (
        await rig.ann.v2("task.sendMessage", {
          task_id: "agent-default-main_task",
          message: { content: "hi" },
        })
      ).status,
    ).toBe(200);
    expect(
      (await rig.ann.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default" })).body,
    ).toMatchObject({
      ok: true,
      data: [],
    });
  });

  // Limits are counted per minute.
  const minutes = sample(45, 5);
  test(`33: polling every second, or every ten seconds for ${minutes} minutes, stays under the limits; the limits can be disabled`, async () => {
    const clock = stillClock();
    await using service = await openService({ idle: true, clock, env: { RATE_LIMITS: "default" } });
    const ann = await service.person();
    const { task_id } = (await ann.v2("task.create", { message: { content: "[[forever]]" } })).body;
    const statuses = new Set<string>();
    for (const ms of [...Array<number>(120).fill(1_000), ...Array<number>(6 * minutes).fill(10_000)]) {
      const { status, body } = await ann.v2("task.detail", { task_id });
      statuses.add(`${status} ${body["task"]?.status}`);
      await clock.advance(ms);
    }
    expect([...statuses]).toEqual(["200 running"]);
  });

  test.each([
    ["standard", "manus-1.6"],
    ["lite", "manus-1.6-lite"],
    ["max", "manus-1.6-max"],
  ])("20: agent_profile %s is returned as %s", async (agent_profile, echoed) => {
    const task_id = await rig.create("hi", { agent_profile });
    expect((await rig.ann.v2("task.detail", { task_id })).body["task"].agent_profile).toBe(echoed);
  });
});

/** The paths of all nulls in an answer. */
function nulls(value: unknown, path = ""): string[] {
  if (value === null) return [path];
  return typeof value === "object"
    ? Object.entries(value).flatMap(([name, inner]) => nulls(inner, `${path}.${name}`))
    : [];
}
