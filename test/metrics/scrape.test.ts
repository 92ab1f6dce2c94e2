import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openLocal } from "../support/mcp-server.ts";
import { modelsFile } from "../support/model/rig.ts";
import { type ModelServer, openModelServer } from "../support/model/server.ts";
import type { Person } from "../support/service.ts";
import { until } from "../support/until.ts";
import { watcher } from "../support/watcher.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { type MeasuredService, openMeasured, sumOf } from "./metrics-rig.ts";

const offline = { agent_profile: "manus-1.6-lite" };
const remote = { agent_profile: "manus-1.6-max" };

describeOnOne("metrics of a serving process", (database) => {
  let model: ModelServer;
  let rig: MeasuredService;
  let ann: Person;
  /** The status with which the webhook's receiver answers. */
  let answer = 200;
  let receiverUrl = "";
  let dispose: () => Promise<void>;

  beforeAll(async () => {
    model = await openModelServer("openai");
    const models = modelsFile("openai", model);
    const receiver = await openLocal((_, response) => void response.writeHead(answer).end());
    const AGENT_PROFILES = "manus-1.6=model:scripted,manus-1.6-lite=offline,manus-1.6-max=remote";
    rig = await openMeasured({ database, env: { ...models.env, AGENT_PROFILES, WEBHOOK_ALLOW: "loopback" } });
    ann = await rig.service.person();
    receiverUrl = receiver.url;
    await ann.v2("webhook.create", { url: receiver.url, event_types: ["task_created"] });
    dispose = async () => {
      await rig[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      models[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
    };
  });
  afterAll(() => dispose?.());

  const url = (path: string) => `${rig.service.url}${path}`;
  const create = async (more: object, who = ann): Promise<string> =>
    (await who.v2("task.create", { message: { content: "Say hello." }, ...more })).body["task_id"];
  const runToEnd = async (more: object, who = ann) => {
    const id = await create(more, who);
    await until(rig.service.store, id, ({ status }) => status === "stopped" || status === "error");
  };
  const list = (wire: "connect-json" | "grpc" | "grpc-web") =>
    ann.client(ProjectService, wire).listProjects({});
  const get = (path: string, headers = {}) => fetch(url(path), { headers });
  async function upload(bytes: string, digest?: string) {
    const { body } = await ann.v2("file.upload", { filename: "a.txt" });
    const headers = digest === undefined ? {} : { "content-md5": digest };
    await fetch(url(new URL(body["upload_url"]).pathname), { method: "PUT", body: bytes, headers });
  }
  /** A task of A2A with push notifications. */
  async function pushed() {
    const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "Say hello." }] };
    const params = {
      tenant: offline.agent_profile,
      message,
      configuration: { taskPushNotificationConfig: { url: receiverUrl } },
    };
    const headers = { ...ann.headers, "a2a-version": "1.0", "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
    const reply = await fetch(url("/a2a"), { method: "POST", headers, body });
    expect(await reply.json()).toHaveProperty("result");
  }
  async function hangingRun() {
    model.play([{ silence: true }]);
    const count = model.requests.length;
    await create({});
    await model.received(count + 1);
  }

  const ok = (operation: string, wire: string) => ({ operation, wire, outcome: "ok" });
  const moved: readonly (readonly [string, Readonly<Record<string, string>>, () => Promise<unknown>])[] = [
    ["atp_calls_total", ok("project.list", "v2"), () => ann.v2("project.list")],
    ["atp_calls_total", ok("project.list", "connect"), () => list("connect-json")],
    ["atp_calls_total", ok("project.list", "grpc"), () => list("grpc")],
    ["atp_calls_total", ok("project.list", "grpc-web"), () => list("grpc-web")],
    ["atp_calls_total", { wire: "v1", outcome: "ok" }, () => get("/v1/projects", { API_KEY: ann.key })],
    ["atp_calls_total", { wire: "responses", outcome: "ok" }, () => get("/models", { API_KEY: ann.key })],
    ["atp_calls_total", ok("/oauth/jwks", "oauth"), () => get("/oauth/jwks")],
    [
      "atp_calls_total",
      { operation: "/oauth/token", outcome: "invalid_request" },
      () => fetch(url("/oauth/token"), { method: "POST" }),
    ],
    ["atp_calls_total", { wire: "scim", outcome: "unauthenticated" }, () => get("/scim/v2/Users")],
    ["atp_calls_total", { wire: "files", outcome: "ok" }, () => upload("hello")],
    ["atp_calls_total", { operation: "unknown", outcome: "not_found" }, () => ann.v2("project.no_such_name")],
    [
      "atp_calls_total",
      { operation: "project.list", outcome: "unauthenticated" },
      () => fetch(url("/v2/project.list")),
    ],
    [
      "atp_calls_total",
      { operation: "project.create", outcome: "invalid_argument" },
      () => ann.v2("project.create", { name: 1 }),
    ],
    [
      "http_server_request_duration_seconds_count",
      { operation: "project.list" },
      () => ann.v2("project.list"),
    ],
    ["atp_commits_total", {}, () => ann.v2("project.create", { name: "a" })],
    ["atp_commit_changes_count", {}, () => ann.v2("project.create", { name: "b" })],
    ["atp_writer_wait_seconds_count", {}, () => ann.v2("project.create", { name: "c" })],
    [
      "atp_change_duration_seconds_count",
      { outcome: "committed" },
      () => ann.v2("project.create", { name: "d" }),
    ],
    [
      "atp_change_duration_seconds_count",
      { outcome: "failed" },
      () => ann.v2("project.update", { project_id: "none", name: "e" }),
    ],
    ["atp_runs_total", { agent: "offline", ending: "finished" }, () => runToEnd(offline)],
    ["atp_claims_total", { kind: "claimed" }, () => runToEnd(offline)],
    ["atp_jobs_total", { kind: "deliver", outcome: "done" }, () => create(offline)],
    ["atp_delivery_attempts_total", { outcome: "delivered" }, () => create(offline)],
    ["atp_delivery_attempt_duration_seconds_count", {}, () => create(offline)],
    ["atp_push_attempts_total", { outcome: "delivered" }, pushed],
    ["atp_push_attempt_duration_seconds_count", {}, pushed],
    ["atp_uploads_total", { outcome: "ok" }, () => upload("hello")],
    ["atp_uploads_total", { outcome: "invalid_argument" }, () => upload("hello", "AAAAAAAAAAAAAAAAAAAAAA==")],
    ["atp_uploaded_bytes_total", {}, () => upload("hello")],
    ["process_cpu_seconds_total", {}, () => ann.v2("project.list")],
  ];

  async function expectMove(
    name: string,
    labels: Readonly<Record<string, string>>,
    act: () => Promise<unknown>,
  ) {
    const before = sumOf(await rig.scrape(), name, labels);
    await act();
    // What follows a call has no event to wait for.
    await expect.poll(async () => sumOf(await rig.scrape(), name, labels)).toBeGreaterThan(before);
  }

  test.each(moved)("%s %j counts what it names", expectMove);

  test("a model's run counts its calls, time and tokens by the model's name", async () => {
    const run = async () => {
      model.play([{ text: "Hello.", usage: { input: 40, output: 2 } }]);
      await runToEnd({});
    };
    await expectMove("atp_runs_total", { agent: "model", ending: "finished" }, run);
    await expectMove(
      "gen_ai_client_operation_duration_seconds_count",
      { model: "scripted", outcome: "ok" },
      run,
    );
    const tokens = (type: string) =>
      rig.scrape().then((scrape) => sumOf(scrape, "gen_ai_client_tokens_total", { type }));
    expect([await tokens("input"), await tokens("output")]).toEqual([80, 4]);
    model.play([{ status: 418 }]);
    await expectMove("gen_ai_client_operation_duration_seconds_count", { outcome: "failed" }, () =>
      create({}),
    );
  });

  test("a run that is out of credits counts as a refusal by a budget", async () => {
    const bo = await rig.service.person();
    const now = Date.now();
    const budget = {
      spaceId: bo.spaceId,
      kind: "team",
      subject: bo.spaceId,
      period: "total",
      credits: 0,
    } as const;
    await rig.service.store.change((tx) =>
      tx.budgets.set({ ...budget, id: "spent", spent: 0, held: 0, since: 0, createdAt: now, updatedAt: now }),
    );
    await expectMove("atp_budget_refusals_total", {}, () => runToEnd(offline, bo));
    expect(sumOf(await rig.scrape(), "atp_runs_total", { ending: "spent" })).toBe(1);
  });

  test("an open watch is counted until it is closed", async () => {
    const watchers = async () => sumOf(await rig.scrape(), "atp_watchers", { kind: "own" });
    await hangingRun();
    const taskId = await create(remote);
    const watch = watcher(rig.service.url, ann, "sse", { taskId });
    await watch.until(1);
    expect(await watchers()).toBe(1);
    watch.close();
    while ((await watchers()) > 0);
  });

  test("a worker's lapsed lease counts as a lost run", async () => {
    const worker = await createWorker(rig.service, ann, ["manus-1.6-max"]);
    await create(remote);
    const { taskId, fence } = await worker.pollUntilRun();
    await expectMove("atp_runs_lost_total", { reason: "worker_lease" }, () =>
      rig.service.store.change((tx) =>
        tx.workerRuns.renew({ taskId, fence: Number(fence), workerId: worker.id }, 1),
      ),
    );
  });

  // On PostgreSQL a process is dead after 15 s of silence; test/nodes takes over there.
  test.runIf(database === "sqlite")("a task of a dead process counts as taken over", async () => {
    const taskId = await create(remote);
    await expectMove("atp_claims_total", { kind: "taken_over" }, () =>
      rig.service.store.change(async (tx) => {
        await tx.nodes.insert({ id: "dead", beat: 0, startedAt: 0, address: null });
        await tx.tasks.advance(taskId, { now: Date.now(), set: { nodeId: "dead", raiseFence: true } });
      }),
    );
    const line = { level: "warn", text: "runs of a lost process were taken over", fields: { runs: 1 } };
    expect(rig.service.problems).toContainEqual(line);
  });

  test("a process that its peers gave up counts its lost runs", async () => {
    await hangingRun();
    const { store } = rig.service;
    await expectMove("atp_runs_lost_total", { reason: "peers" }, async () => {
      // The dead process of another test may still have a row.
      for (const { id } of await store.nodes.list()) await store.change((tx) => tx.nodes.remove(id));
      await create(offline);
    });
  });

  test("a receiver that is gone counts as a disabled webhook and a failed attempt", async () => {
    answer = 410;
    await expectMove("atp_webhooks_disabled_total", {}, () => create(offline));
    expect(sumOf(await rig.scrape(), "atp_delivery_attempts_total", { outcome: "failed" })).toBe(1);
  });
});
