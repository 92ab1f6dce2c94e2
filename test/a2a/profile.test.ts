import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor } from "@a2a-js/sdk/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { a2aAgent } from "../../src/runtime/agents/a2a/a2a.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { until, untilStatus } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";
import { data, text } from "./client.ts";
import { type SdkAgent, startSdkAgent } from "./sdk-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "a2a-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The agent of another installation of the platform. */
const port = await freePort();
const remote = taskRig({ env: { PORT: `${port}`, BASE_URL: `http://127.0.0.1:${port}` } });
let sdk: SdkAgent;
let database: TestStore;
let service: Service;
let ann: Person;

/**
 * Answers with a message alone, with an artifact in parts, or with a refusal, by the text that it receives.
 */
const executor: AgentExecutor = {
  async execute({ userMessage, taskId, contextId }, bus) {
    const [part] = userMessage.parts;
    const said = part?.content?.$case === "text" ? part.content.value : "";
    const empty = { metadata: undefined, extensions: [] };
    const message = {
      messageId: randomUUID(),
      taskId: "",
      contextId,
      role: Role.ROLE_AGENT,
      referenceTaskIds: [],
      ...empty,
    };
    if (said === "Alone") bus.publish(AgentEvent.message({ ...message, parts: [text("Only a message")] }));
    else {
      const status = (state: TaskState) => ({ state, message: undefined, timestamp: undefined });
      const at = { taskId, contextId, metadata: undefined };
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: status(TaskState.TASK_STATE_WORKING),
          artifacts: [],
          history: [],
          metadata: undefined,
        }),
      );
      const artifact = { artifactId: "a", name: "result", description: "", ...empty };
      const raw = {
        ...text(""),
        content: { $case: "raw" as const, value: Buffer.from("tea,12") },
        filename: "../sums.csv",
        mediaType: "text/csv",
      };
      for (const [parts, append] of [
        [[text("One")], false],
        [[text("Two"), raw, data({ sum: 12 })], true],
      ] as const)
        bus.publish(
          AgentEvent.artifactUpdate({
            ...at,
            artifact: { ...artifact, parts: [...parts] },
            append,
            lastChunk: append,
          }),
        );
      const end = said === "Reject" ? TaskState.TASK_STATE_REJECTED : TaskState.TASK_STATE_COMPLETED;
      bus.publish(AgentEvent.statusUpdate({ ...at, status: status(end) }));
    }
    bus.finished();
  },
  async cancelTask() {},
};

const env = () => ({
  A2A_AGENTS_FILE: join(folder, "agents.json"),
  AGENT_PROFILES: "other=a2a:other,sdk=a2a:sdk,gone=a2a:gone,closed=a2a:closed",
  FETCH_ALLOW: "loopback",
});
beforeAll(async () => {
  sdk = await startSdkAgent(executor);
  const allow = "loopback";
  const authorization = { Authorization: `Bearer ${remote.ann.key}` };
  const agents = {
    other: { url: `${remote.service.url}/a2a`, headers: authorization, tenant: "manus-1.6", allow },
    sdk: { url: sdk.url, headers: { "X-Secret": "sesame" }, allow },
    gone: { url: `${remote.service.url}/a2a`, headers: { Authorization: "Bearer nonsense" }, allow },
    closed: { url: `${remote.service.url}/a2a` },
  };
  writeFileSync(join(folder, "agents.json"), JSON.stringify(agents));
  database = await openTestStore("sqlite");
  service = await openService({ env: env(), over: database });
  ann = await service.person();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await sdk[Symbol.asyncDispose]();
});

const create = async (profile: string, content: string): Promise<string> => {
  const { body } = await ann.v2("task.create", {
    agent_profile: profile,
    interactive_mode: true,
    message: { content },
  });
  return String(body["task_id"]);
};
const say = (id: string, content: string) =>
  ann.v2("task.sendMessage", { task_id: id, message: { content } });
const eventsOf = async (id: string): Promise<readonly V2Body[]> =>
  (await ann.v2("task.listMessages", { task_id: id, order: "asc", verbose: true, limit: 200 })).body[
    "messages"
  ];
const lastOf = async (id: string, type = "assistant_message") =>
  (await eventsOf(id)).findLast((event) => event["type"] === type)?.[type];
/** The newest task of the other installation. */
const remoteTask = async (): Promise<string> =>
  (await remote.ann.v2("task.list", { limit: 1 })).body["data"][0].id;

describe("an A2A agent as a profile (spec/api.md 8.117)", () => {
  test("its question, texts, file, approval and end are those of the task, and a stop cancels its task", async () => {
    const { store } = service;
    const id = await create(
      "other",
      "[[progress Looking]] [[ask Which colour? | red | blue]] [[file sums.csv | tea,12]] [[confirm terminalExecute]] [[say Done]]",
    );
    await untilStatus(store, id, "waiting");
    expect(await lastOf(id)).toMatchObject({
      content: "Which colour?",
      delivery_kind: "question",
      question_expectation: { options: ["red", "blue"] },
    });
    const other = await remoteTask();
    await say(id, "blue");
    await expect.poll(async () => (await lastOf(id)).content).toContain("A person approves it at");
    const { waiting_for_event_id: event_id } = (await remote.ann.v2("task.detail", { task_id: other })).body[
      "task"
    ].status_detail;
    await untilStatus(store, id, "waiting");
    await remote.ann.v2("task.confirmAction", { task_id: other, event_id, input: { accept: true } });
    await untilStatus(remote.service.store, other, "stopped");
    await say(id, "Continue");
    await untilStatus(store, id, "stopped");
    const { content, attachments } = await lastOf(id);
    expect(content).toBe(
      (await remote.events(other)).findLast(({ type }) => type === "assistant_message")?.["assistant_message"]
        .content,
    );
    const { pathname, search } = new URL(
      attachments.find(({ filename }: V2Body) => filename === "sums.csv").url,
    );
    expect(await (await fetch(`${service.url}${pathname}${search}`)).text()).toBe("tea,12");
    expect(
      (await eventsOf(id)).filter(
        ({ type, assistant_message: said }) => type === "assistant_message" && said.content === "Looking",
      ),
    ).toHaveLength(1);
    // A later turn continues the conversation of the agent, and the messages reached it once.
    await say(id, "[[forever]]");
    await untilStatus(remote.service.store, other, "running");
    await ann.v2("task.stop", { task_id: id });
    await expect.poll(async () => (await remote.row(other)).status).toBe("stopped");
    const theirs = await remote.events(other);
    expect(theirs.filter(({ type }) => type === "user_message")).toHaveLength(3);
    expect(theirs.some(({ type }) => type === "user_stop")).toBe(true);
  });

  test("a process that takes over follows the agent's task: nothing is sent twice, and no event is doubled", async () => {
    const id = await create("other", "[[progress First]] [[sleep 3]] [[progress Second]] [[say Done]]");
    await expect
      .poll(async () => (await eventsOf(id)).some(({ assistant_message: said }) => said?.content === "First"))
      .toBe(true);
    const other = await remoteTask();
    await service.drain();
    service = await openService({ env: env(), over: database });
    await untilStatus(service.store, id, "stopped");
    const { store } = service;
    const events = await store.events.list(id, { afterSeq: 0, order: "asc", limit: 100, verbose: true });
    const said = events.flatMap((event) =>
      event.type === "assistant_message" ? [event.payload.content] : [],
    );
    expect(said).toEqual(["First", "Second", "Done"]);
    expect((await remote.events(other)).filter(({ type }) => type === "user_message")).toHaveLength(1);
  });

  test("an agent of the SDK answers with a message, with an artifact in parts, or refuses", async () => {
    const { store } = service;
    const ann = await service.person();
    const run = async (content: string, more: object = {}) => {
      const { body } = await ann.v2("task.create", { agent_profile: "sdk", message: { content }, ...more });
      const id = String(body["task_id"]);
      await until(store, id, ({ status }) => status !== "running");
      return (await ann.v2("task.listMessages", { task_id: id, limit: 200 })).body["messages"];
    };
    const find = (events: readonly V2Body[], type: string) =>
      events.find((event) => event["type"] === type)?.[type];
    expect(find(await run("Alone"), "assistant_message")).toMatchObject({ content: "Only a message" });
    expect(sdk.headers[0]).toMatchObject({ "x-secret": "sesame", "a2a-version": "1.0" });
    const schema = {
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"],
      additionalProperties: false,
    };
    const done = await run("Work", { structured_output_schema: schema });
    expect(find(done, "assistant_message")).toMatchObject({
      content: "One\n\nTwo",
      attachments: [{ filename: "sums.csv" }],
    });
    expect(find(done, "structured_output_result")).toMatchObject({ success: true, value: { sum: 12 } });
    expect(find(await run("Reject"), "error_message")).toMatchObject({ error_type: "agent_failed" });
  });

  test("an agent that cannot be reached is tried again, and then fails the task", async () => {
    const clock = {
      ...systemClock,
      sleep: (ms: number) => (ms === 120_000 ? new Promise<void>(() => undefined) : Promise.resolve()),
    };
    let calls = 0;
    const connect = () => ({
      fetch: async () => {
        calls += 1;
        throw new TypeError("fetch failed");
      },
      end: () => undefined,
    });
    const parts = {
      name: "lost",
      url: "https://agent.example/",
      tenant: "",
      headers: {},
      idleSeconds: 120,
      minutes: 60,
    };
    const turn = {
      ...{
        taskId: "t",
        earlier: [],
        written: [],
        messages: ["Hello"],
        attachments: [],
        instruction: "",
        memo: null,
      },
      owner: { accountId: "a" },
    };
    const signal = new AbortController().signal;
    const agent = a2aAgent({ ...parts, connect, fetchFile: () => Promise.reject(new Error("no file")) });
    const run = agent({ ...turn, clock, signal } as never); // The members that the agent reads here.
    expect(await run.next()).toMatchObject({
      done: true,
      value: { kind: "fail", errorType: "agent_unavailable" },
    });
    expect(calls).toBe(6);
  });

  test.each([
    ["gone", "agent_refused", "HTTP 401"],
    ["closed", "agent_refused", "its address is not public"],
  ])("an agent that is %s fails the task with %s", async (profile, errorType, reason) => {
    const ann = await service.person();
    const { body } = await ann.v2("task.create", {
      agent_profile: profile,
      message: { content: "Hello there" },
    });
    const id = String(body["task_id"]);
    await untilStatus(service.store, id, "error");
    const { error_message: error } = (await ann.v2("task.listMessages", { task_id: id, limit: 5 })).body[
      "messages"
    ].find(({ type }: V2Body) => type === "error_message");
    expect(error.error_type).toBe(errorType);
    expect(error.content).toContain(reason);
  });
});
