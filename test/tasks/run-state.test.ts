import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { createWorker, explain, remoteRig } from "../workers/worker-rig.ts";
import { untilTrue } from "./watch-rig.ts";

// spec/api.md 8.74, spec/decisions.md 93
describeOnOne("a running task", (database) => {
  const clock = stillClock();
  const rig = remoteRig({ database, clock });
  const detail = async (id: string, who: Person = rig.ann) =>
    (await who.v2("task.detail", { task_id: id })).body;
  const stateOf = async (id: string, who?: Person): Promise<string> =>
    (await detail(id, who))["task"].run_state;
  /** A person whose space has a worker that has just called. */
  async function served(profiles?: readonly string[]) {
    const who = await rig.service.person();
    const worker = await createWorker(rig.service, who, profiles);
    await worker.poll();
    return { who, worker, calledAt: await untilRecorded(who.spaceId) };
  }
  /**
   * Moves the clock until the present call of the space's worker is written, which happens every 5 s. Returns
   * the time of the call.
   */
  async function untilRecorded(spaceId: string): Promise<number> {
    const calledAt = clock.now();
    await untilLater(
      async () => ((await rig.service.store.workers.list(spaceId))[0]?.seenAt ?? 0) >= calledAt,
    );
    return calledAt;
  }
  /**
   * Moves the clock until the condition is true. A loop that waits for the database begins its next sleep
   * only after the answer.
   */
  const untilLater = (isTrue: () => Promise<boolean> | boolean): Promise<void> =>
    untilTrue(async () => {
      await clock.advance(1_000);
      return isTrue();
    });
  const moveTo = (time: number): Promise<void> => clock.advance(time - clock.now());

  test("is queued, then running, then in no queue, in details, lists and changes", async () => {
    const { who, worker } = await served();
    const id = await rig.create("Say hello", {}, who);
    const queuedAt = Math.floor(clock.now() / 1000);
    expect(await detail(id, who)).toMatchObject({
      queue_position: 1,
      task: { run_state: "queued", queued_at: queuedAt },
    });
    expect((await who.v2("task.list")).body["data"]).toMatchObject([
      { run_state: "queued", queued_at: queuedAt },
    ]);
    const run = await worker.pollUntilRun();
    const running = await detail(id, who);
    expect(running["task"]).toMatchObject({ status: "running", run_state: "running" });
    expect(running["task"]).not.toHaveProperty("queued_at");
    expect(running).not.toHaveProperty("queue_position");
    expect(run.taskId).toBe(id);
    let isStopped = false;
    void who.v2("task.stop", { task_id: id }).finally(() => {
      isStopped = true;
    });
    // The answer waits until the clock is past the times of its events.
    await untilTrue(async () => {
      await clock.advance(1);
      return isStopped;
    });
    expect((await detail(id, who))["task"]).not.toHaveProperty("run_state");
  });

  test("waits for a worker while none has called for a minute, and is queued again when one calls", async () => {
    const { who, worker, calledAt } = await served();
    const id = await rig.create("Say hello", {}, who);
    await moveTo(calledAt + 55_000);
    expect(await stateOf(id, who)).toBe("queued");
    await moveTo(calledAt + 65_000);
    expect(await detail(id, who)).toMatchObject({
      queue_position: 1,
      task: { status: "running", run_state: "waiting_for_worker" },
    });
    await worker.call("Heartbeat", { taskId: id, fence: 1 });
    await untilRecorded(who.spaceId);
    expect(await stateOf(id, who)).toBe("queued");
  });

  test("has a present worker only by a credential of the same space that serves its profile and is not revoked", async () => {
    const { who, worker } = await served(["manus-1.6-lite"]);
    const [lite, standard] = [
      await rig.create("Hello", { agent_profile: "lite" }, who),
      await rig.create("Hello", {}, who),
    ];
    expect([await stateOf(lite, who), await stateOf(standard, who)]).toEqual([
      "queued",
      "waiting_for_worker",
    ]);
    expect(await stateOf(await rig.create())).toBe("waiting_for_worker");
    await rig.service.store.change((tx) => tx.workers.revoke(who.spaceId, worker.id, clock.now()));
    expect(await stateOf(lite, who)).toBe("waiting_for_worker");
  });

  test("has a place among the waiting tasks of its account and profile, up to 100", async () => {
    const { who } = await served();
    const other = await rig.service.person({ with: who, role: "member" });
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push(await rig.create("Hello", {}, who));
      await rig.create("Hello", { agent_profile: "lite" }, who);
      await rig.create("Hello", {}, other);
    }
    const places = async () => Promise.all(ids.map(async (id) => (await detail(id, who))["queue_position"]));
    expect((await places()).toSorted()).toEqual([1, 2, 3]);
    await clock.advance(1);
    for (let n = 3; n < 100; n += 1) await rig.create("Hello", {}, who);
    await clock.advance(1);
    ids.splice(0, ids.length, await rig.create("Hello", {}, who), await rig.create("Hello", {}, who));
    expect(await places()).toEqual([100, 100]);
  });

  test("without a worker is logged once for its profile, and again after a worker came and left", async () => {
    const warnings = () =>
      rig.service.logged.filter(({ text }) =>
        /^no worker has called for profile manus-1.6-max(?!.*repeated)/.test(text),
      ).length;
    const looks = () =>
      rig.service.statements.filter((sql) => sql.includes("GROUP BY t.agent_profile")).length;
    /**
     * Moves the clock until the process has looked for profiles without a worker, and has handled what it
     * found.
     */
    const untilLooked = () => {
      const before = looks();
      return untilLater(() => looks() >= before + 2);
    };
    const who = await rig.service.person();
    const id = await rig.create("Hello", { agent_profile: "max" }, who);
    await clock.advance(59_000);
    expect(warnings()).toBe(0);
    await clock.advance(2_000);
    await untilLooked();
    expect(warnings()).toBe(1);
    await untilLooked();
    expect(warnings()).toBe(1);
    const worker = await createWorker(rig.service, who);
    const run = await worker.pollUntilRun({ profiles: ["manus-1.6-max"] });
    expect(run.taskId).toBe(id);
    await worker.append(run, [explain("a")]);
    await untilLooked();
    await worker.call("Release", { taskId: id, fence: run.fence });
    // A minute after the last call, and 20 s until the last call is written.
    await clock.advance(80_000);
    await untilLooked();
    expect(warnings()).toBe(2);
  });
});
