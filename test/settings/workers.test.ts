import { beforeAll, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { keyKinds } from "../../src/core/accounts/caller.ts";
import { workerDigest } from "../../src/core/workers/worker.ts";
import { workerNode } from "../../src/core/workers/worker-run.ts";
import { WorkerService } from "../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { sweepWorkerRuns } from "../../src/runtime/remote/held-run.ts";
import { describeOnOne, nodesOf, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callJson, remoteEnv } from "../workers/worker-rig.ts";
import { outcomeOf, settingsRig } from "./settings-rig.ts";

describeOnOne("credentials of remote workers", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock, env: remoteEnv, nodes: nodesOf(database) });
  let ann: Person;
  beforeAll(async () => {
    ann = await rig.person();
  });
  const browser = async (who: Person) => (await who.session()).client(WorkerService);
  const seconds = (ms: number) => BigInt(Math.floor(ms / 1000));
  const poll = async (secret: string) =>
    callJson(rig.service.url, "worker.v1.WorkerService/Poll", {}, { "x-api-key": secret });

  test("are made with the owner's session, shown once, and stored as a hash", async () => {
    const { worker, secret } = await (await browser(ann)).createWorker({
      name: "ci",
      profiles: ["manus-1.6"],
    });
    expect(worker).toMatchObject({
      name: "ci",
      profiles: ["manus-1.6"],
      createdAt: seconds(clock.now()),
      runs: 0,
    });
    expect(secret).toMatch(/^wk-[A-Za-z0-9_-]{49}$/);
    expect((await poll(secret)).status).toBe(200);
    const [row] = await rowsIn(rig.db.url, `SELECT digest FROM worker WHERE id = '${worker?.id}'`);
    expect(row).toEqual({ digest: workerDigest(secret) });
    const audit = await rig.auditRow("settings.v1.WorkerService/CreateWorker", worker?.id);
    expect(JSON.stringify(audit)).not.toContain(secret.slice(3));
  });

  test("are never made with a key, and are available only to the owner, or to the account of a personal space", async () => {
    for (const kind of keyKinds) {
      const { client } = await rig.person({ as: ann, with: ann, kind });
      expect(await outcomeOf(client(WorkerService).createWorker({ name: "next" }))).toContain(
        "PermissionDenied",
      );
      if (kind !== "general")
        expect(await outcomeOf(client(WorkerService).listWorkers({}))).toContain("PermissionDenied");
    }
    for (const role of roles.filter((name) => name !== "owner")) {
      const other = await rig.person({ with: ann, role });
      const session = await browser(other);
      expect(await outcomeOf(session.createWorker({ name: "x" }))).toContain("PermissionDenied");
      expect(await outcomeOf(session.listWorkers({}))).toContain("PermissionDenied");
      expect(await outcomeOf(session.revokeWorker({ id: "x" }))).toContain("PermissionDenied");
      expect(await outcomeOf(other.client(WorkerService).listWorkers({}))).toContain("PermissionDenied");
    }
    const alone = await rig.person({ personal: true });
    const { secret } = await (await browser(alone)).createWorker({ name: "mine" });
    expect((await poll(secret)).status).toBe(200);
    expect((await alone.client(WorkerService).listWorkers({})).data).toMatchObject([{ name: "mine" }]);
  });

  test("are revoked once, with a key too, on every node by the next call, and not from another space", async () => {
    const { worker, secret } = await (await browser(ann)).createWorker({ name: "short" });
    const stranger = await rig.person();
    const id = worker?.id ?? "";
    expect(await outcomeOf((await browser(stranger)).revokeWorker({ id }))).toContain("NotFound");
    await ann.client(WorkerService).revokeWorker({ id });
    for (const _ of rig.service.nodes) expect(await poll(secret)).toMatchObject({ status: 401 });
    expect(await outcomeOf(ann.client(WorkerService).revokeWorker({ id }))).toContain("NotFound");
    expect((await ann.client(WorkerService).listWorkers({})).data.map((each) => each.id)).not.toContain(id);
  });

  test("get another name and other profiles, which count from the next call on (spec/api.md 8.45)", async () => {
    const bob = await rig.person();
    const { worker, secret } = await (await browser(bob)).createWorker({
      name: "old",
      profiles: ["manus-1.6-lite"],
    });
    const id = worker?.id ?? "";
    const client = bob.client(WorkerService);
    await bob.v2("task.create", { message: { content: "Hi" }, agent_profile: "max" });
    expect((await poll(secret)).body).not.toHaveProperty("run");
    await client.updateWorker({ id, profiles: { names: ["manus-1.6-max"] } });
    expect((await poll(secret)).body).toHaveProperty("run");
    const renamed = await client.updateWorker({ id, name: "new" });
    expect(renamed.worker).toMatchObject({ name: "new", profiles: ["manus-1.6-max"], runs: 1 });
    expect(await outcomeOf(client.updateWorker({ id }))).toContain("InvalidArgument");
    expect(await outcomeOf(client.updateWorker({ id, name: " x" }))).toContain(
      "InvalidArgument: name: must have 1 to 100",
    );
    const [stranger, member] = [await rig.person(), await rig.person({ with: bob })];
    expect(await outcomeOf(stranger.client(WorkerService).updateWorker({ id, name: "x" }))).toBe(
      "NotFound: worker not found",
    );
    expect(await outcomeOf(member.client(WorkerService).updateWorker({ id, name: "x" }))).toContain(
      "PermissionDenied",
    );
  });

  test("show their failed runs for 7 days, the newest first: errors and lost leases", async () => {
    const bob = await rig.person();
    const { worker, secret } = await (await browser(bob)).createWorker({ name: "bad" });
    const id = worker?.id ?? "";
    const call = (method: string, body: object) =>
      callJson(rig.service.url, `worker.v1.WorkerService/${method}`, body, { "x-api-key": secret });
    const failures = async () =>
      (await bob.client(WorkerService).listWorkerFailures({ id })).data.map(({ kind }) => kind);
    for (const content of ["Hi", "Ho"])
      await bob.v2("task.create", { message: { content }, agent_profile: "max" });
    const { taskId, fence } = (await poll(secret)).body["run"];
    expect((await poll(secret)).body).toHaveProperty("run");
    expect(await failures()).toEqual([]);
    // The ending waits until the clock is past the events' timestamps.
    await clock.advance(1_000);
    await call("Finish", { taskId, fence, fail: { errorType: "timeout", content: "Too slow" } });
    expect(await failures()).toEqual(["error"]);
    await sweepWorkerRuns({ store: rig.service.store, clock: { now: () => clock.now() + 60_000 } });
    expect(await failures()).toEqual(["lease", "error"]);
    const stranger = await rig.person();
    expect(await outcomeOf(stranger.client(WorkerService).listWorkerFailures({ id }))).toBe(
      "NotFound: worker not found",
    );
    await rig.service.store.change((tx) => tx.workers.purgeFailures(clock.now() + 1));
    expect(await failures()).toEqual(["lease"]);
  });

  test("keep a run that is renewed after the sweep has read its lease", async () => {
    const bob = await rig.person();
    const { secret } = await (await browser(bob)).createWorker({ name: "late" });
    await bob.v2("task.create", { message: { content: "Hi" }, agent_profile: "max" });
    const { taskId } = (await poll(secret)).body["run"];
    const { store } = rig.service;
    const run = await store.workerRuns.find(taskId);
    const at = run?.leaseUntil ?? 0;
    const change: typeof store.change = async (work) => {
      await store.change(async (tx) => run && tx.workerRuns.renew(run, at + 2));
      return store.change(work);
    };
    await sweepWorkerRuns({ store: { ...store, change }, clock: { now: () => at + 1 } });
    expect(await store.workerRuns.find(taskId)).toEqual({ ...run, leaseUntil: at + 2 });
    expect(await store.tasks.byId(taskId)).toMatchObject({
      fence: run?.fence,
      nodeId: workerNode(run?.workerId ?? ""),
    });
  });

  test("are at most 50 in a space", async () => {
    const bob = await rig.person();
    const session = await browser(bob);
    const made = await Promise.allSettled(
      Array.from({ length: 52 }, (_, i) => session.createWorker({ name: `w${i}` })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    expect(await outcomeOf(session.createWorker({ name: "more" }))).toContain("ResourceExhausted");
  });

  test.each([
    ["a name with a blank at its end", { name: "a " }],
    ["no name", { name: "" }],
    ["an invalid profile", { name: "a", profiles: ["Big One"] }],
  ])("are refused with %s", async (_what, wish) => {
    expect(await outcomeOf((await browser(ann)).createWorker(wish))).toContain("InvalidArgument");
  });

  test("are listed with their runs, the time of their last call, and their waiting tasks", async () => {
    const bob = await rig.person();
    const { worker, secret } = await (await browser(bob)).createWorker({ name: "busy" });
    const asked = clock.now();
    for (const profile of ["lite", "lite", "standard"])
      await bob.v2("task.create", { message: { content: "Hi" }, agent_profile: profile });
    await callJson(
      rig.service.url,
      "worker.v1.WorkerService/Poll",
      { profiles: ["manus-1.6"] },
      { "x-api-key": secret },
    );
    await clock.advance(6_000);
    const list = async () => bob.client(WorkerService).listWorkers({});
    const { queue } = await list();
    expect(queue).toMatchObject([
      { profile: "manus-1.6", waiting: 0 },
      { profile: "manus-1.6-lite", waiting: 2, oldestAt: seconds(asked) },
      { profile: "manus-1.6-max", waiting: 0 },
    ]);
    expect(queue[0]?.oldestAt).toBeUndefined();
    await expect
      .poll(async () => (await list()).data)
      .toMatchObject([{ id: worker?.id, runs: 1, lastSeenAt: seconds(asked) }]);
  });
});
