import { describe, expect, test } from "vitest";
import type { TaskEvent, TextDelta } from "../../packages/client/src/index.ts";
import { LiveTexts } from "../../packages/client/src/watch.ts";
import { createNarrator } from "../../src/narration/narrate.ts";
import { loadedWith } from "../support/loaded-with.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";

const origin = "https://pages.example.com";
const rig = taskRig({ env: { CORS_ORIGINS: origin, RATE_LIMITS: "default", WATCH_LIMIT: "2" } });

type Sent = Record<string, unknown>;

const runOf = (more: Sent = {}): Sent => ({ threadId: "t", runId: "r", messages: [], ...more });
const said = (content: unknown, id = crypto.randomUUID()) => ({ messages: [{ id, role: "user", content }] });

const send = (body: unknown, headers: Record<string, string> = rig.ann.headers, method = "POST") =>
  fetch(`${rig.service.url}/ag-ui`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
  });

/** The events of a run. */
// biome-ignore lint/suspicious/noExplicitAny: events are read as a client sees them
async function eventsOf(body: unknown, headers?: Record<string, string>): Promise<any[]> {
  const text = await (await send(body, headers)).text();
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

describe("the entrance /ag-ui (spec/api.md 8.110)", () => {
  test("requests without a key or a token for the API are refused", async () => {
    expect((await send(runOf(), {})).status).toBe(401);
    expect((await send(runOf(), { authorization: "Bearer nonsense" })).status).toBe(401);
    const session = await rig.ann.session();
    expect((await send(runOf(), session.headers)).status).toBe(401);
    const mcp = await tokenOf(rig.service, rig.ann, { forMcp: true });
    expect((await send(runOf(), mcp.headers)).status).toBe(401);
  });

  test("bad requests name the field, and other methods and long bodies are refused", async () => {
    const bad: readonly [unknown, string][] = [
      [{ runId: "r", messages: [] }, "threadId"],
      [runOf({ messages: "x" }), "messages"],
      [runOf({ state: { last_seq: -1 } }), "state.last_seq"],
      [runOf({ resume: [{ interruptId: "e", status: "maybe" }] }), "resume.0.status"],
      [runOf({ forwardedProps: { stop: "yes" } }), "forwardedProps.stop"],
    ];
    for (const [body, field] of bad) {
      const answer = await send(body);
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { ok: false, error: { field, doc_url: "https://platform.test/errors/invalid_argument" } },
      ]);
    }
    expect((await send("{")).status).toBe(400);
    expect((await send(null, rig.ann.headers, "GET")).status).toBe(405);
    expect((await send(`{"a":"${"x".repeat(4 * 1_048_576)}"}`)).status).toBe(413);
  });

  test("pages of the configured origins may call, and no others", async () => {
    const asked = (from: string) =>
      fetch(`${rig.service.url}/ag-ui`, {
        method: "OPTIONS",
        headers: {
          origin: from,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
    expect((await asked(origin)).headers.get("access-control-allow-origin")).toBe(origin);
    expect((await asked("https://evil.example.com")).headers.get("access-control-allow-origin")).toBeNull();
    const answer = await send(runOf(), { ...rig.ann.headers, origin });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect(answer.headers.get("ratelimit-limit")).toBe("600");
  });

  test("a refusal of an operation is the last event, with the code of the operation", async () => {
    const stranger = await rig.service.person();
    const id = await rig.create("[[say x]]");
    for (const [more, code] of [
      [{}, "invalid_argument"],
      [said(7), "invalid_argument"],
      [{ ...said("x"), forwardedProps: { task: { agent_profile: "nobody" } } }, "invalid_argument"],
      [{ state: { task_id: id }, resume: [{ interruptId: "ev_1", status: "resolved" }] }, "invalid_argument"],
    ] as const)
      expect((await eventsOf(runOf(more))).at(-1)).toMatchObject({ type: "RUN_ERROR", code });
    expect((await eventsOf(runOf({ threadId: id }), stranger.headers)).at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "not_found",
    });
  });

  test("a token decides approvals only with approve:task, and an abandoned interrupt stays open", async () => {
    const plain = await tokenOf(rig.service, rig.ann);
    const able = await tokenOf(rig.service, rig.ann, {
      scopes: ["create_task", "manage_all_tasks", "approve:task"],
    });
    const begun = await eventsOf(runOf(said("[[confirm terminalExecute]] [[say Done]]")), plain.headers);
    const [interrupt] = begun.at(-1).outcome.interrupts;
    expect(interrupt).toMatchObject({ reason: "approval", metadata: { can_answer: false } });
    expect(interrupt).not.toHaveProperty("responseSchema");
    const { snapshot: state } = begun.find(({ type }) => type === "STATE_SNAPSHOT");
    const resume = (status: string, headers: Record<string, string>) =>
      eventsOf(
        runOf({ state, resume: [{ interruptId: interrupt.id, status, payload: { accept: true } }] }),
        headers,
      );
    expect((await resume("resolved", plain.headers)).at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "permission_denied",
    });
    const abandoned = await resume("cancelled", able.headers);
    expect(abandoned.at(-1)).toMatchObject({
      outcome: { interrupts: [{ id: interrupt.id, responseSchema: { required: ["accept"] } }] },
    });
    expect((await resume("resolved", able.headers)).at(-1)).toMatchObject({ outcome: { type: "success" } });
    // The same answer again, as after a lost connection.
    expect((await resume("resolved", able.headers)).at(-1)).toMatchObject({ outcome: { type: "success" } });
  });

  test("members without effect are named, and files of a message reach the task", async () => {
    const data = Buffer.from("tea,12").toString("base64");
    const content = [
      { type: "text", text: "Read this" },
      { type: "document", source: { type: "data", value: data, mimeType: "text/csv" } },
      {
        type: "document",
        source: { type: "data", value: data, mimeType: "text/csv" },
        metadata: { filename: "q3.csv" },
      },
      { type: "document", source: { type: "data", value: data, mimeType: "text/csv" }, filename: "q4.csv" },
    ];
    const events = await eventsOf(
      runOf({ ...said(content), tools: [{ name: "t", description: "" }], context: [] }),
    );
    expect(events).toContainEqual({ type: "CUSTOM", name: "atp.ignored", value: { members: ["tools"] } });
    const { snapshot } = events.find(({ type }) => type === "STATE_SNAPSHOT");
    const [message] = await rig.events(snapshot.task_id);
    expect(message?.["user_message"]).toMatchObject({
      content: "Read this",
      attachments: [{ content_type: "text/csv" }, { filename: "q3.csv" }, { filename: "q4.csv" }],
    });
    expect(events.filter(({ role }) => role === "user")).toEqual([]);
  });

  test("a client that disconnects leaves the task as it is, and the streams of an account are bounded", async () => {
    const id = await rig.create("[[forever]]");
    const { lastSeq } = await rig.row(id);
    const cancel = new AbortController();
    const watch = () =>
      fetch(`${rig.service.url}/ag-ui`, {
        ...{
          method: "POST",
          signal: cancel.signal,
          headers: { "content-type": "application/json", ...rig.ann.headers },
        },
        body: JSON.stringify(runOf({ state: { task_id: id, last_seq: lastSeq } })),
      });
    for (const { body } of [await watch(), await watch()]) {
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      // The snapshot is read before the watch begins, and the next event is of the watch.
      for (let text = ""; !text.includes("MESSAGES_SNAPSHOT"); ) text += (await reader?.read())?.value ?? "";
    }
    expect((await eventsOf(runOf({ state: { task_id: id, last_seq: lastSeq } }))).at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "resource_exhausted",
    });
    cancel.abort();
    expect((await rig.row(id)).status).toBe("running");
    await rig.ann.v2("task.stop", { task_id: id });
    await untilStatus(rig.service.store, id, "stopped");
  });

  test("a server loads the adapter with its first request, and not before", () => {
    const loaded = [...loadedWith("src/serve.ts")];
    expect(loaded).toContain("src/protocols/agui/http/route.ts");
    expect(loaded).not.toContain("src/protocols/agui/run.ts");
  });
});

describe("texts that are written (spec/api.md 8.72)", () => {
  const delta = (attempt: number, offset: number, text: string): TextDelta => ({
    ...{ message_key: "k", attempt, offset, text, type: "assistant_message" },
  });
  const event = (content: string): TaskEvent =>
    ({ id: "e", seq: 1, type: "assistant_message", assistant_message: { content } }) as TaskEvent;
  /** What a client's watch makes of parts and events, as passages. */
  const kinds = (items: readonly (TextDelta | TaskEvent)[]) => {
    const live = new LiveTexts();
    const watched = items.flatMap((item): Parameters<ReturnType<typeof createNarrator>>[0][] => {
      if ("seq" in item) {
        live.end(item);
        return [item];
      }
      const text = live.add(item);
      return text === undefined ? [] : [{ type: "text_delta", delta: item, text }];
    });
    return watched
      .flatMap(createNarrator())
      .map(
        (passage) =>
          `${passage.kind} ${"text" in passage ? passage.text : "rest" in passage ? passage.rest : ""}`,
      );
  };

  test("the event completes its parts, and a text that is written again replaces the one before", () => {
    expect(kinds([delta(1, 0, "ab"), delta(1, 2, "c"), event("abcd")])).toEqual([
      "part ab",
      "part c",
      "end d",
    ]);
    expect(kinds([delta(1, 0, "ab"), delta(1, 5, "f"), event("abcdef")])).toEqual(["part ab", "end cdef"]);
    expect(kinds([delta(1, 0, "ab"), delta(2, 0, "x"), event("xy")])).toEqual([
      "part ab",
      "lost ",
      "part x",
      "end y",
    ]);
    expect(kinds([delta(1, 0, "ab"), event("xy")])).toEqual(["part ab", "lost ", "end xy"]);
    expect(kinds([delta(1, 3, "d"), event("abcd")])).toEqual(["end abcd"]);
    const stop = { id: "s", seq: 2, type: "user_stop", user_stop: {} } as TaskEvent;
    expect(kinds([delta(1, 0, "ab"), stop])).toEqual(["part ab", "lost ", "event "]);
  });
});
