import { beforeAll, expect, test } from "vitest";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { createWorker, explain, remoteRig, type TestWorker } from "./worker-rig.ts";

const many = 50;

describeOnEach("races of workers", (database) => {
  const rig = remoteRig({ database, nodes: nodesOf(database) });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });
  const done = { finish: { content: "Done" } };
  const typesOf = async (id: string) => (await rig.events(id)).map(({ type }) => type);

  test("50 polls for one task: one receives it, the others return empty", async () => {
    const polls = Array.from({ length: many }, () => worker.poll({ waitSeconds: 3 }));
    const id = await rig.create();
    const receivedRuns = (await Promise.all(polls)).filter(Boolean);
    expect(receivedRuns.map(({ taskId }) => taskId)).toEqual([id]);
    expect(await rig.row(id)).toMatchObject({ fence: 1, claims: 1 });
    await worker.finish(receivedRuns[0], done);
  });

  test("50 polls for 50 tasks: each receives another task", async () => {
    const polls = Array.from({ length: many }, () => worker.pollUntilRun({ waitSeconds: 10 }));
    const ids = await Promise.all(Array.from({ length: many }, () => rig.create()));
    const runs = await Promise.all(polls);
    expect(runs.map(({ taskId }) => taskId).toSorted()).toEqual(ids.toSorted());
    await Promise.all(runs.map((run) => worker.finish(run, done)));
    for (const id of ids) expect(await rig.row(id)).toMatchObject({ status: "stopped" });
  });

  test("a finish against messages: one turn answers each message, without a stop in between", async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await rig.create("0");
      const first = await worker.pollUntilRun();
      const sends = [1, 2, 3].map((n) => rig.send(id, `${n}`));
      const answered: string[] = [];
      const sending = Promise.all(sends);
      for (let run = first; answered.length < 4; ) {
        answered.push(...run.messages.map(({ content }: { content: string }) => content));
        const { body } = await worker.finish(run, done);
        run = body.run ?? (answered.length < 4 ? await worker.pollUntilRun() : undefined);
      }
      await sending;
      expect(answered.toSorted()).toEqual(["0", "1", "2", "3"]);
      await rig.reach(id, "stopped");
      expect((await typesOf(id)).filter((type) => type === "user_message")).toHaveLength(4);
    }
  });

  test("an append against the user's stop: accepted events come before the stop, none after it", async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await rig.create();
      const run = await worker.pollUntilRun();
      const appends = Array.from({ length: 10 }, (_, i) => worker.append(run, [explain(`${i}`)]));
      const [replies] = await Promise.all([Promise.all(appends), rig.ann.v2("task.stop", { task_id: id })]);
      const accepted = replies.filter(({ status }) => status === 200).length;
      const types = await typesOf(id);
      expect(types.slice(2, 2 + accepted)).toEqual(Array.from({ length: accepted }, () => "explanation"));
      expect(types.slice(2 + accepted)).toEqual(["user_stop", "status_update"]);
      for (const { status, body } of replies) if (status !== 200) expect(body.message).toContain("fence");
    }
  });

  test("two endings of one run: one of them counts", async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await rig.create();
      const run = await worker.pollUntilRun();
      const replies = await Promise.all([
        worker.finish(run, done),
        worker.finish(run, { fail: { errorType: "internal", content: "No" } }),
      ]);
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      expect(await typesOf(id)).toHaveLength(4);
    }
  });

  test("accounts are served in rotation, however much work each has", async () => {
    const bob = await rig.service.person({ with: rig.ann });
    const ids = new Map<string, string>();
    for (let i = 0; i < 4; i += 1) ids.set(await rig.create(), "ann");
    ids.set(await rig.create("Hello", {}, bob), "bob");
    const runs = [];
    for (let i = 0; i < 5; i += 1) runs.push(await worker.pollUntilRun());
    expect(
      runs
        .slice(0, 2)
        .map(({ taskId }) => ids.get(taskId))
        .toSorted(),
    ).toEqual(["ann", "bob"]);
    for (const run of runs) await worker.finish(run, done);
  });
});
