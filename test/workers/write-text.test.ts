import { afterEach, beforeAll, expect } from "vitest";
import { describeOnOne, describeOnPostgres, nodesOf } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Calling } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import type { TaskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { type Watcher, type WatchQuery, watcher } from "../support/watcher.ts";
import { createWorker, explain, type RunOf, remoteRig, type TestWorker } from "./worker-rig.ts";
import { untilWatched, write, writeAll, writeWords } from "./written-text.ts";

const test = sampledTest(2);

/** The text that a client shows of the last attempt: it drops the text on a gap, and adds parts to it. */
function lastText({ deltas }: Watcher): string {
  const last = deltas.at(-1)?.attempt;
  const parts = deltas.filter(({ attempt }) => attempt === last);
  return parts.reduce((text, { offset, text: part }) => (offset === text.length ? text + part : ""), "");
}

/** Watchers of a rig, each at the next node. */
function watching(rig: TaskRig): (query: WatchQuery, who?: Calling) => Watcher {
  const open = new Set<Watcher>();
  afterEach(async () => {
    for (const { close } of open) close();
    await Promise.all([...open].map(({ end }) => end));
    open.clear();
  });
  return (query, who = rig.ann) => {
    const made = watcher(rig.service.url, who, "sse", { deltas: true, ...query });
    open.add(made);
    return made;
  };
}

const lost = {
  status: 400,
  body: { code: "failed_precondition", message: expect.stringContaining("fence") },
};
const soon = { interval: 5 };
// spec/api.md 8.75, spec/decisions.md 94
describeOnPostgres("text that a worker writes", (database) => {
  const rig = remoteRig({ database, nodes: nodesOf(database) });
  const watch = watching(rig);
  let worker: TestWorker;
  let other: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
    other = await createWorker(rig.service, rig.ann);
  });
  async function begin(): Promise<RunOf> {
    await rig.create();
    return worker.pollUntilRun();
  }

  test("is shown to the watchers of each process while it is written, and nothing of it is stored", async () => {
    const run = await begin();
    const watchers = Array.from({ length: nodesOf(database) }, () => watch({ taskId: run.taskId }));
    for (const each of watchers) await each.until(2);
    await untilWatched(worker, run);
    const before = await rig.events(run.taskId);
    await writeWords(worker, run, "One 👍 two three");
    for (const each of watchers) await expect.poll(() => lastText(each), soon).toBe("One 👍 two three");
    expect(await rig.events(run.taskId)).toEqual(before);
    await worker.finish(run, { finish: { content: "One 👍 two three" } });
    for (const each of watchers) {
      await each.until(4);
      expect(each.events.map(({ type }) => type)).toEqual([
        "user_message",
        "status_update",
        "assistant_message",
        "status_update",
      ]);
      expect(each.deltas.every(({ after, type }) => after === 2 && type === "assistant_message")).toBe(true);
    }
    expect(JSON.stringify(rig.service.logged)).not.toContain("three");
  });

  test("is not sent without a watcher, and a later watcher gets all of it with the next calls", async () => {
    const run = await begin();
    expect((await write(worker, run, { text: "One " })).body).toEqual({ nextOffset: 4 });
    expect((await write(worker, run, { offset: 4, text: "two " })).body).toEqual({ nextOffset: 8 });
    const late = watch({ taskId: run.taskId });
    await late.until(2);
    await untilWatched(worker, run);
    const lacking = await write(worker, run, { offset: 8, text: "three" });
    expect(lacking.body).toEqual({ watched: true });
    await writeAll(worker, run, "One two three");
    await expect.poll(() => lastText(late), soon).toBe("One two three");
    await worker.finish(run, { finish: { content: "Done" } });
  });

  test("is begun again with a greater attempt by the same run and by the next one, and late parts are ignored", async () => {
    const run = await begin();
    const watcher = watch({ taskId: run.taskId });
    await watcher.until(2);
    await untilWatched(worker, run);
    await writeWords(worker, run, "One two", { key: "answer" });
    await writeWords(worker, run, "Another text", { key: "answer", attempt: 2 });
    await expect.poll(() => lastText(watcher), soon).toBe("Another text");
    await write(worker, run, { key: "answer", offset: 7, text: " late" });
    await worker.call("Release", { taskId: run.taskId, fence: run.fence });
    const next = await other.pollUntilRun();
    await writeWords(other, next, "A third text", { key: "answer" });
    expect(await write(worker, run, { key: "answer", attempt: 3, text: "late" })).toMatchObject(lost);
    await expect.poll(() => lastText(watcher), soon).toBe("A third text");
    await other.finish(next, { finish: { content: "A third text" } });
    await watcher.until(4);
    const attempts = watcher.deltas.map(({ attempt }) => attempt);
    expect(attempts).toEqual(attempts.toSorted((a, b) => a - b));
    expect(new Set(attempts).size).toBe(3);
    expect(new Set(watcher.deltas.map(({ messageKey }) => messageKey)).size).toBe(1);
    expect(watcher.deltas.some(({ text }) => text.includes("late"))).toBe(false);
  });

  test("is that of an explanation or a message, after the events before it, and nothing is shown under a written key", async () => {
    const run = await begin();
    const watcher = watch({ taskId: run.taskId });
    await watcher.until(2);
    await untilWatched(worker, run);
    await writeWords(worker, run, "Let me see", { key: "why", explanation: true });
    await expect.poll(() => lastText(watcher), soon).toBe("Let me see");
    await worker.append(run, [explain("why", "Let me see")]);
    await watcher.until(3);
    await writeAll(worker, run, "Let me see again", { key: "why", explanation: true, attempt: 2 });
    await writeAll(worker, run, "Done", { attempt: 3 });
    await expect.poll(() => lastText(watcher), soon).toBe("Done");
    expect(new Set(watcher.deltas.map(({ type, after }) => `${type} ${after}`))).toEqual(
      new Set(["explanation 2", "assistant_message 3"]),
    );
    await worker.finish(run, { finish: { content: "Done" } });
  });

  test("of 1 MiB is shown, and nothing beyond it is", async () => {
    const run = await begin();
    const watcher = watch({ taskId: run.taskId });
    await watcher.until(2);
    await untilWatched(worker, run);
    await writeAll(worker, run, "x".repeat(2 ** 20));
    await expect.poll(() => lastText(watcher).length, soon).toBe(2 ** 20);
    expect((await write(worker, run, { offset: 2 ** 20, text: "more" })).body).toEqual({
      nextOffset: 2 ** 20 + 4,
      watched: true,
    });
    await worker.finish(run, { finish: { content: "Done" } });
    await watcher.until(4);
    expect(watcher.deltas.some(({ text }) => text.includes("more"))).toBe(false);
  });

  test.each([
    ["text of more than 64 KiB", { text: "€".repeat(21_846) }, "text"],
    ["half a character", { text: "\ud83d" }, "text"],
    ["an attempt below 1", { attempt: 0 }, "attempt"],
    ["a negative offset", { offset: -1 }, "offset"],
    ["a key with a space", { key: "a b" }, "key"],
  ])("is refused with %s", async (_what, part, named) => {
    const { status, body } = await write(worker, { taskId: "t", fence: 1 }, part);
    expect([status, body.code]).toEqual([400, "invalid_argument"]);
    expect(body.message).toContain(named);
  });

  test("is for the app of its task, and for no other app or person", async () => {
    const [own, foreign] = [await tokenOf(rig.service, rig.ann), await tokenOf(rig.service, rig.ann)];
    const { body } = await own.v2("task.create", { message: { content: "Write" } });
    const run: RunOf = await worker.pollUntilRun();
    const watching = watch({ taskId: String(body["task_id"]) }, own);
    await watching.until(2);
    await untilWatched(worker, run);
    await writeWords(worker, run, "Secret words");
    await expect.poll(() => lastText(watching), soon).toBe("Secret words");
    for (const other of [foreign, await rig.service.person(), await rig.service.person({ with: rig.ann })])
      expect(await watch({ taskId: run.taskId }, other).end).toMatch(/^not_found/);
    await worker.finish(run, { finish: { content: "Secret words" } });
  });

  test("is refused for a task of another space, and when the user has stopped the task", async () => {
    const run = await begin();
    const stranger = await createWorker(rig.service, await rig.service.person());
    expect((await write(stranger, run, { text: "One" })).body.code).toBe("not_found");
    expect(await write(other, run, { text: "One" })).toMatchObject(lost);
    await rig.ann.v2("task.stop", { task_id: run.taskId });
    expect(await write(worker, run, { text: "One" })).toMatchObject(lost);
  });
});

describeOnOne("parts of a worker's text", (database) => {
  const clock = stillClock();
  const rig = remoteRig({ database, clock });

  test("are at most 20 a second for a run, and keep its lease", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    await rig.create();
    const run: RunOf = await worker.poll();
    for (let second = 0; second < 20; second += 1) {
      expect((await write(worker, run, { text: "One" })).status).toBe(200);
      await clock.advance(1000);
    }
    expect((await rig.row(run.taskId)).fence).toBe(run.fence);
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async () => (await write(worker, run, { text: "One" })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    const refused = await write(worker, run, { text: "One" });
    expect([refused.status, refused.body.code]).toEqual([429, "resource_exhausted"]);
    expect(refused.body.message).toContain("20 parts");
    await clock.advance(1000);
    expect((await write(worker, run, { text: "One" })).status).toBe(200);
  });
});
