import { Code, ConnectError } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { newWorkerText } from "../../src/core/workers/worker.ts";
import { describeOnOne } from "../support/database.ts";
import { callV2, rpcWires } from "../support/wires.ts";
import { callJson, createWorker, explain, remoteRig, type TestWorker } from "./worker-rig.ts";

const methods = ["Poll", "Heartbeat", "Append", "AppendBatch", "Finish", "Upload", "Release"];

describeOnOne("the credential of a worker", (database) => {
  const rig = remoteRig({ database });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });

  test.each(["x-api-key", "authorization"])("grants access to worker calls by %s", async (header) => {
    const credential = header === "authorization" ? `Bearer ${worker.secret}` : worker.secret;
    expect(await worker.call("Poll", {}, { [header]: credential })).toEqual({ status: 200, body: {} });
  });

  test("grants access to worker calls only: no task, file, setting or v1 route", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const credential = { "x-api-key": worker.secret };
    for (const [name, body] of [
      ["task.detail", { task_id: id }],
      ["task.list", {}],
      ["user.me", {}],
      ["file.upload", { filename: "a" }],
    ] as const)
      expect(await callV2(rig.service.url, name, body, { headers: credential })).toMatchObject({
        ...{ status: 403, body: { error: { code: "permission_denied" } } },
      });
    for (const rpc of ["settings.v1.WorkerService/ListWorkers", "settings.v1.WorkerService/CreateWorker"])
      expect(await callJson(rig.service.url, rpc, { name: "next" }, credential)).toMatchObject({
        status: 403,
      });
    expect(
      (await fetch(`${rig.service.url}/v1/tasks`, { headers: { API_KEY: worker.secret } })).status,
    ).toBeGreaterThanOrEqual(400);
    await worker.finish(run, { finish: { content: "Done" } });
  });

  test("no other credential grants access to worker calls", async () => {
    const { headers } = await rig.ann.session();
    for (const method of methods) {
      const rpc = `worker.v1.WorkerService/${method}`;
      for (const credential of [{ "x-service-api-key": rig.ann.key }, headers])
        expect(await callJson(rig.service.url, rpc, {}, credential)).toMatchObject({
          ...{ status: 403, body: { message: "this operation takes a worker credential" } },
        });
      for (const credential of [
        {},
        { "x-api-key": newWorkerText(systemRandom) },
        { "x-api-key": "wk-x" },
        { authorization: "Bearer wk-x" },
      ])
        expect(await callJson(rig.service.url, rpc, {}, credential)).toMatchObject({
          status: 401,
          body: { code: "unauthenticated" },
        });
    }
  });

  test("reaches only the tasks of its space and profiles", async () => {
    const lite = await createWorker(rig.service, rig.ann, ["manus-1.6-lite"]);
    const elsewhere = await createWorker(rig.service, await rig.service.person());
    const [standard, small] = [await rig.create(), await rig.create("Hello", { agent_profile: "lite" })];
    expect(await elsewhere.poll()).toBeUndefined();
    const run = await lite.pollUntilRun();
    expect(run).toMatchObject({ taskId: small, profile: "manus-1.6-lite" });
    expect(await lite.poll()).toBeUndefined();
    expect(await lite.call("Poll", { profiles: ["manus-1.6"] })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("profiles[0]") },
    });
    expect(await worker.poll({ profiles: ["manus-1.6-max"] })).toBeUndefined();
    const other = await worker.pollUntilRun({ profiles: ["manus-1.6"], waitSeconds: 5 });
    expect(other.taskId).toBe(standard);
    await rig.send(small, "More", { agent_profile: "manus-1.6-max" });
    expect(
      (await lite.finish(run, { finish: { content: "Done" } })).body,
      "the next turn belongs to another profile",
    ).toEqual({});
    const moved = await worker.pollUntilRun();
    expect(moved).toMatchObject({ taskId: small, profile: "manus-1.6-max", messages: [{ content: "More" }] });
    for (const each of [other, moved]) await worker.finish(each, { finish: { content: "Done" } });
  });

  test.each(rpcWires)("works over %s", async (wire) => {
    const id = await rig.create();
    const client = worker.client(wire);
    const { run } = await client.poll({ waitSeconds: 5 });
    expect(run).toMatchObject({ taskId: id, messages: [{ content: "Say hello" }] });
    const key = { taskId: id, fence: run?.fence ?? 0 };
    const event = { key: "1", payload: { case: "explanation", value: { content: "Hm" } } } as const;
    expect((await client.append({ ...key, events: [event] })).events).toMatchObject([{ key: "1", seq: 3 }]);
    const { uploadId } = await client.upload({
      ...key,
      filename: "a.txt",
      content: new TextEncoder().encode("a"),
    });
    expect((await client.heartbeat(key)).stop).toBe("");
    const late = client.append({ ...key, fence: key.fence + 1, events: [event] });
    const refused = await late.catch((thrown: unknown) => ConnectError.from(thrown));
    expect(refused).toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("fence"),
    });
    expect(
      (
        await client.finish({
          ...key,
          outcome: { case: "finish", value: { content: "Done", uploadIds: [uploadId] } },
        })
      ).run,
    ).toBeUndefined();
    expect(await rig.row(id)).toMatchObject({ status: "stopped" });
  });

  test("watchers receive a worker's events like other events", async () => {
    const id = await rig.create();
    const run = await worker.pollUntilRun();
    const waits = rig.ann.v2("task.listMessages", {
      task_id: id,
      after_seq: 2,
      wait_seconds: 10,
      order: "asc",
    });
    await worker.append(run, [{ key: "1", assistantMessage: { content: "Half" } }]);
    expect((await waits).body["messages"]).toMatchObject([{ assistant_message: { content: "Half" } }]);
    await worker.finish(run, { finish: { content: "Done" } });
  });

  test("writes no audit entry and no idempotency record", async () => {
    await rig.create();
    const run = await worker.pollUntilRun();
    const before = rig.service.statements.length;
    const credential = { "x-api-key": worker.secret, "idempotency-key": "once" };
    const append = { taskId: run.taskId, fence: run.fence, events: [explain("1")] };
    for (let times = 0; times < 2; times += 1)
      expect((await worker.call("Append", append, credential)).status).toBe(200);
    await worker.finish(run, { finish: { content: "Done" } });
    const statements = rig.service.statements.slice(before);
    expect(statements.some((text) => text.includes("INSERT INTO worker_event"))).toBe(true);
    expect(statements.filter((text) => /INSERT INTO (audit_event|idempotency_record)/.test(text))).toEqual(
      [],
    );
  });
});

describe("polls of one credential", () => {
  const rig = remoteRig({ env: { WATCH_LIMIT: "3", RATE_LIMITS: "1" } });

  test("are limited to WATCH_LIMIT, counted per credential", async () => {
    const [worker, other] = [
      await createWorker(rig.service, rig.ann),
      await createWorker(rig.service, rig.ann),
    ];
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => worker.call("Poll", { waitSeconds: 1 })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429]);
    expect((await other.call("Poll")).status).toBe(200);
    const quick = await Promise.all(
      Array.from({ length: 300 }, () => other.call("Heartbeat", { taskId: "unknown", fence: 1 })),
    );
    expect(quick.every(({ status }) => status === 404)).toBe(true);
  });
});

describe("tasks of profiles that are not remote", () => {
  const rig = remoteRig({ env: { AGENT_PROFILES: "manus-1.6=offline,manus-1.6-lite=remote" } });

  test("are run by the platform; tasks of remote profiles only by workers", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const left = await rig.create("Hello", { agent_profile: "lite" });
    const own = await rig.runToEnd("Hello");
    expect((await rig.row(own)).status).toBe("stopped");
    expect(await rig.row(left)).toMatchObject({ status: "running", nodeId: null });
    const run = await worker.pollUntilRun();
    expect(run.taskId).toBe(left);
    await worker.finish(run, { finish: { content: "Done" } });
    await rig.send(own, "More", { agent_profile: "lite" });
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({ taskId: own, messages: [{ content: "More" }] });
    await worker.finish(next, { finish: { content: "Done" } });
  });
});
