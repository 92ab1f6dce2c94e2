import { expect, test } from "vitest";
import { WorkerService } from "../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { endOverdueTurns } from "../../src/runtime/time-limits.ts";
import { unpublished } from "../support/claims.ts";
import { describeOnOne, describeOnPostgres, nodesOf } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { untilClaimed } from "../support/until.ts";
import { createWorker, explain, type TestWorker } from "./worker-rig.ts";

const done = { finish: { content: "Done" } };

// spec/api.md 8.79, spec/decisions.md 98
describeOnOne("the labels of a profile", (database) => {
  const rig = taskRig({ database, env: { AGENT_PROFILES: "train=remote;labels=gpu+eu,plain=remote" } });
  /** A space with a worker that has these labels. */
  async function space(
    labels: readonly string[],
  ): Promise<{ who: Person; worker: TestWorker; setLabels: (names: string[]) => Promise<unknown> }> {
    const who = await rig.service.person();
    const worker = await createWorker(rig.service, who);
    const settings = (await who.session()).client(WorkerService);
    const setLabels = (names: string[]) => settings.updateWorker({ id: worker.id, labels: { names } });
    await setLabels([...labels]);
    return { who, worker, setLabels };
  }
  const train = { agent_profile: "train" };

  test.each<[string, readonly string[], boolean]>([
    ["all of them", ["gpu", "eu"], true],
    ["more", ["a", "eu", "gpu"], true],
    ["only one", ["gpu"], false],
    ["none", [], false],
  ])("are needed by a worker: one with %s", async (_, labels, served) => {
    const { who, worker } = await space(labels);
    const id = await rig.create("Train", train, who);
    const plain = await rig.create("Hello", { agent_profile: "plain" }, who);
    const runs = [await worker.poll(), await worker.poll()];
    expect(runs.map((run) => run?.taskId)).toEqual(served ? [id, plain] : [plain, undefined]);
  });

  test("are narrowed by a poll, which can name only labels of its credential", async () => {
    const { who, worker } = await space(["gpu", "eu"]);
    const id = await rig.create("Train", train, who);
    expect(await worker.poll({ labels: ["eu"] })).toBeUndefined();
    const foreign = await worker.call("Poll", { labels: ["eu", "root"] });
    expect(foreign).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining("labels[1]: is not one of this credential's labels") },
    });
    expect((await worker.poll({ labels: ["eu", "gpu"], profiles: ["train"] })).taskId).toBe(id);
  });

  test("are those of the credential from the next call on, set by the owner, and listed", async () => {
    const { who, worker, setLabels } = await space([]);
    const id = await rig.create("Train", train, who);
    expect(await worker.poll()).toBeUndefined();
    await setLabels(["gpu", "eu"]);
    const run = await worker.pollUntilRun();
    expect(run.taskId).toBe(id);
    const { data } = await who.client(WorkerService).listWorkers({});
    expect(data.find((each) => each.id === worker.id)?.labels).toEqual(["eu", "gpu"]);
    await setLabels([]);
    expect((await worker.append(run, [explain("1")])).status, "runs that it holds continue").toBe(200);
    await rig.send(id, "More", {}, who);
    expect((await worker.finish(run, done)).body, "the next turn is for a worker with the labels").toEqual(
      {},
    );
    expect(await rig.row(id)).toMatchObject({ status: "running", nodeId: null });
  });

  test("open no run of another space", async () => {
    const [mine, other] = [await space(["gpu", "eu"]), await space([])];
    await rig.create("Train", train, other.who);
    expect(await mine.worker.poll()).toBeUndefined();
  });

  test("decide whether a task waits for a worker", async () => {
    const { who, worker, setLabels } = await space(["gpu"]);
    const id = await rig.create("Train", train, who);
    const stateOf = async () => (await who.v2("task.detail", { task_id: id })).body["task"].run_state;
    await rig.service.store.change((tx) => tx.workers.recordUse(worker.id, Date.now(), 1));
    expect(await stateOf()).toBe("waiting_for_worker");
    await setLabels(["gpu", "eu"]);
    expect(await stateOf()).toBe("queued");
  });
});

describeOnPostgres("the limits of a remote profile", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database), env: { AGENT_PROFILES: "plain=remote" } });
  const limit = (more: object) => rig.ann.v2("agentProfile.update", { agent_profile: "plain", ...more });

  test("give at most this many runs to workers at once, and the next one when a run ends", async () => {
    const workers = [await createWorker(rig.service, rig.ann), await createWorker(rig.service, rig.ann)];
    await limit({ concurrency: 2 });
    for (let n = 0; n < 5; n += 1) await rig.create("Hello", { agent_profile: "plain" });
    const polls = await Promise.all(Array.from({ length: 20 }, async (_, i) => workers[i % 2]?.poll()));
    const runs = polls.flatMap((run, i) => (run ? [{ run, worker: workers[i % 2] }] : []));
    expect(runs).toHaveLength(2);
    await limit({ concurrency: 0 });
    // Sequentially: of simultaneous polls, one that loses a task to another returns nothing.
    const rest = [await workers[0]?.poll(), await workers[0]?.poll(), await workers[0]?.poll()];
    expect(rest.filter(Boolean)).toHaveLength(3);
    expect(await workers[0]?.poll()).toBeUndefined();
    await limit({ concurrency: 2 });
    await rig.create("Hello", { agent_profile: "plain" });
    expect(await workers[0]?.poll()).toBeUndefined();
    for (const { run, worker } of runs) await worker?.finish(run, done);
    expect(await workers[0]?.poll(), "three others still run").toBeUndefined();
    for (const run of rest) await workers[0]?.finish(run, done);
    const last = await workers[0]?.poll();
    await workers[0]?.finish(last, done);
  });

  test("end a worker's turn that takes too long: its calls are refused, and its heartbeat says so", async () => {
    await limit({ concurrency: 0, time_limit_seconds: 30 });
    const worker = await createWorker(rig.service, rig.ann);
    const id = await rig.create("Hello", { agent_profile: "plain" });
    const run = await worker.pollUntilRun();
    await worker.append(run, [explain("1")]);
    await endOverdueTurns({
      store: rig.service.store,
      clock: { now: () => Date.now() + 31_000 },
      publishTask: unpublished,
    });
    expect(await worker.append(run, [explain("2")])).toMatchObject({
      status: 400,
      body: { code: "failed_precondition" },
    });
    expect((await worker.call("Heartbeat", { taskId: id, fence: run.fence })).body).toEqual({
      stop: "stopped",
    });
    expect((await rig.events(id)).slice(-2)).toMatchObject([
      {
        error_message: {
          error_type: "timeout",
          content: expect.stringContaining("30 seconds of the profile plain"),
        },
      },
      { status_update: { agent_status: "error" } },
    ]);
    await rig.send(id, "Again");
    const next = await worker.pollUntilRun();
    expect(next).toMatchObject({ taskId: id, messages: [{ content: "Again" }] });
    await worker.finish(next, done);
  });
});

describeOnPostgres("the limits of a profile of the platform's agents", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database), env: { AGENT_PROFILES: "busy=offline" } });

  test("hold for all processes, and a run that ends lets the next one begin", async () => {
    await rig.ann.v2("agentProfile.update", { agent_profile: "busy", concurrency: 2 });
    const ids = await Promise.all(
      Array.from({ length: 6 }, () => rig.create("[[forever]]", { agent_profile: "busy" })),
    );
    const free = await rig.create("[[forever]]");
    await untilClaimed(rig.service.store, free);
    const waiting = new Set(ids);
    const next = async (): Promise<string> => {
      const id = await Promise.race(
        [...waiting].map(async (each) => (await untilClaimed(rig.service.store, each)).id),
      );
      waiting.delete(id);
      const rows = await Promise.all(ids.map(rig.row));
      expect(rows.filter(({ nodeId }) => nodeId !== null).length).toBeLessThanOrEqual(2);
      return id;
    };
    const running = [await next(), await next()];
    for (let id = running.shift(); id !== undefined; id = running.shift()) {
      await rig.ann.v2("task.stop", { task_id: id });
      if (waiting.size > 0) running.push(await next());
    }
    await rig.ann.v2("task.stop", { task_id: free });
  });

  test("end a turn that takes too long, and its agent", async () => {
    await rig.ann.v2("agentProfile.update", { agent_profile: "busy", concurrency: 0, time_limit_seconds: 1 });
    const id = await rig.create("[[forever]]", { agent_profile: "busy" });
    await rig.reach(id, "error");
    expect((await rig.events(id)).at(-2)?.["error_message"].error_type).toBe("timeout");
    await rig.send(id, "[[say here again]]", { agent_profile: "standard" });
    await rig.reach(id, "stopped");
  });
});
