import { afterAll, beforeAll, expect, test } from "vitest";
import { Failure } from "../../src/core/failure.ts";
import { sampleRow } from "../store/samples.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { retainAt } from "../support/retain.ts";
import { taskRig } from "../support/task-rig.ts";

const dayMs = 24 * 3_600_000;
const story = "[[think Because]] [[tool browser]] [[file sums.csv | tea,12]] [[say Walnut]]";

describeOnOne("retention of tasks", (database) => {
  const options: { over?: TestStore } = {};
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(database);
    options.over = db;
  });
  afterAll(() => db[Symbol.asyncDispose]());
  const rig = taskRig(options);
  let passes = 0;
  /** One pass, at this many days from now, in order: a second pass is not due within a day. */
  const retain = (days: number, retention: Parameters<typeof retainAt>[2], keepsEvents = false) => {
    passes += 1;
    return retainAt(rig.service.store, Date.now() + days * dayMs + passes * 1000, retention, keepsEvents);
  };
  const rows = (sql: string) => runDirectly(db, sql);
  const changedAt = (id: string, days: number) =>
    rows(`UPDATE task SET updated_at = ${Date.now() + days * dayMs} WHERE id = '${id}'`);
  const types = async (id: string) => (await rig.events(id)).map(({ type }) => type);
  const isFound = async (word: string) =>
    (await rig.ann.v2("task.list", { query: word })).body["data"].length > 0;

  test("VERBOSE_EVENT_DAYS deletes what only verbose shows, of tasks that have ended", async () => {
    const [ended, waits] = [
      await rig.runToEnd(story),
      await rig.create("[[tool browser]] [[ask Which?]]", { interactive_mode: true }),
    ];
    await rig.reach(waits, "waiting");
    const transcript = async () => (await rig.service.store.transcripts.list(ended, 0)).length;
    await rig.service.store.change((tx) =>
      tx.tasks.advance(ended, { now: Date.now(), rows: [sampleRow(0), sampleRow(1)] }),
    );
    await retain(9, { verboseEventDays: 10 });
    expect(await types(ended)).toContain("tool_used");
    expect(await transcript()).toBe(2);
    const plainIds = async () => (await rig.events(ended, { verbose: false })).map(({ id }) => id);
    const plain = await plainIds();
    await retain(11, { verboseEventDays: 10 });
    expect(await types(ended)).not.toContain("tool_used");
    expect(await transcript(), "it has the uses of tools too").toBe(0);
    expect(await plainIds()).toEqual(plain);
    expect(await types(waits)).toContain("tool_used");
  });

  test("EVENT_DAYS deletes all events and their words, and keeps the task with its title and files", async () => {
    const id = await rig.runToEnd(`${story} [[say Chestnuts]]`, { title: "Almonds" });
    expect([await isFound("chestnuts"), await isFound("almonds")]).toEqual([true, true]);
    await retain(22, { eventDays: 10 });
    expect(await types(id)).toEqual([]);
    expect([await isFound("chestnuts"), await isFound("almonds")]).toEqual([false, true]);
    expect(await rig.ann.v2("task.detail", { task_id: id })).toMatchObject({
      body: { task: { title: "Almonds", status: "stopped" } },
    });
    expect(await rows(`SELECT status FROM file WHERE task_id = '${id}'`)).toContainEqual({
      status: "uploaded",
    });
    await rig.send(id, "[[say Again]]");
    await rig.reach(id, "stopped");
    expect((await rig.events(id)).map(({ seq }) => seq)).toEqual([
      ...new Set((await rig.events(id)).map(({ seq }) => seq)),
    ]);
    expect(await types(id)).toContain("assistant_message");
  });

  test("a later pass visits a task again that has changed since", async () => {
    const id = await rig.runToEnd("[[tool browser]]");
    await changedAt(id, 20);
    await retain(33, { verboseEventDays: 10 });
    expect(await types(id)).not.toContain("tool_used");
    await rig.send(id, "[[tool browser]]");
    await rig.reach(id, "stopped");
    await changedAt(id, 40);
    await retain(45, { verboseEventDays: 10 });
    expect(await types(id)).toContain("tool_used");
    await retain(51, { verboseEventDays: 10 });
    expect(await types(id)).not.toContain("tool_used");
  });

  test("TASK_DAYS deletes ended tasks as task.delete does, with a row in the audit log", async () => {
    const [old, failed, runs] = [
      await rig.runToEnd(story),
      await rig.create("[[fail internal]]"),
      await rig.create("[[forever]]"),
    ];
    await rig.reach(failed, "error");
    const young = await rig.runToEnd("[[tool browser]]");
    await changedAt(old, 51.9);
    await changedAt(young, 52.1);
    await retain(62, { taskDays: 10 });
    expect(await rig.ann.v2("task.detail", { task_id: young })).toMatchObject({ status: 200 });
    for (const id of [old, failed]) {
      expect(await rig.ann.v2("task.detail", { task_id: id })).toMatchObject({ status: 404 });
      expect(await rows(`SELECT seq FROM task_event WHERE task_id = '${id}'`)).toEqual([]);
      expect(
        await rows(
          `SELECT credential, outcome FROM audit_event WHERE subject = '${id}' AND operation = 'retention/DeleteTask'`,
        ),
      ).toEqual([{ credential: "retention", outcome: "done" }]);
    }
    expect(await rows(`SELECT status FROM file WHERE task_id = '${old}' AND deleted_at IS NULL`)).toEqual([]);
    expect(await rig.row(runs)).toMatchObject({ status: "running" });
    await rig.ann.v2("task.stop", { task_id: runs });
  });

  test("a pass handles many tasks in one change, with a row of the audit log for each", async () => {
    const { store } = rig.service;
    const ids = await Promise.all(Array.from({ length: 12 }, () => rig.runToEnd("[[tool browser]]")));
    const changesOf = async (days: number, retention: Parameters<typeof retainAt>[2]) => {
      let changes = 0;
      const counting: typeof store.change = (work) => {
        changes += 1;
        // The first change over tasks is tried again, with fewer.
        if (changes === 1)
          return Promise.reject(new Failure("unavailable", "the change took too long, try again"));
        return store.change(work);
      };
      await retainAt({ ...store, change: counting }, Date.now() + days * dayMs, retention);
      return changes;
    };
    expect(await changesOf(64, { verboseEventDays: 10 })).toBeLessThan(ids.length);
    for (const id of ids) expect(await types(id)).not.toContain("tool_used");
    expect(await changesOf(66, { taskDays: 10 })).toBeLessThan(ids.length);
    const audited = await rows("SELECT subject FROM audit_event WHERE operation = 'retention/DeleteTask'");
    expect(audited.map(({ subject }) => subject)).toEqual(expect.arrayContaining(ids));
  });

  test("keeps the tasks of a person or a space under legal hold until the hold ends", async () => {
    const bob = await rig.service.person({ with: rig.ann });
    const [his, hers] = [await rig.runToEnd(story, {}, bob), await rig.runToEnd(story)];
    await rows(
      `INSERT INTO legal_hold (name, kind, subject, created_at) VALUES ('case', 'person', '${bob.accountId}', 1)`,
    );
    await retain(73, { taskDays: 10, verboseEventDays: 5 });
    expect(await bob.v2("task.detail", { task_id: his })).toMatchObject({ status: 200 });
    expect(await rig.ann.v2("task.detail", { task_id: hers })).toMatchObject({ status: 404 });
    await rows(`UPDATE legal_hold SET kind = 'space', subject = '${rig.ann.spaceId}'`);
    await retain(84, { taskDays: 10 });
    expect(await bob.v2("task.detail", { task_id: his })).toMatchObject({ status: 200 });
    await rows("DELETE FROM legal_hold");
    await retain(95, { taskDays: 10 });
    expect(await bob.v2("task.detail", { task_id: his })).toMatchObject({ status: 404 });
  });

  test("keeps a task while a subtask of it runs, and visits it again afterwards", async () => {
    const id = await rig.runToEnd("[[tool browser]] [[subtask [[forever]]]]");
    await retain(106, { taskDays: 10, verboseEventDays: 5 });
    expect(await types(id)).toContain("tool_used");
    const [child] = await rows(`SELECT id FROM task WHERE parent_id = '${id}'`);
    await rig.ann.v2("task.stop", { task_id: child?.["id"] });
    // The end of a subtask changes its parent a moment later.
    await expect.poll(() => rows("SELECT task_id FROM parent_task WHERE look_at IS NOT NULL")).toEqual([]);
    await retain(108, { verboseEventDays: 5 });
    expect(await types(id)).not.toContain("tool_used");
    await retain(117, { taskDays: 10 });
    expect(await rig.ann.v2("task.detail", { task_id: id })).toMatchObject({ status: 404 });
  });

  test("a message that comes while the pass reads keeps the task", async () => {
    const { store } = rig.service;
    const id = await rig.runToEnd(story);
    const walkTasks: typeof store.retention.walkTasks = async (after, max) => {
      const found = await store.retention.walkTasks(after, max);
      if (found.some((task) => task.id === id)) {
        await rig.send(id, "[[forever]]");
      }
      return found;
    };
    const late = { ...store, retention: { ...store.retention, walkTasks } };
    await retainAt(late, Date.now() + 130 * dayMs, { taskDays: 10 });
    expect(await rig.row(id)).toMatchObject({ status: "running" });
    expect(await types(id)).toContain("tool_used");
    await rig.ann.v2("task.stop", { task_id: id });
  });

  test("TASK_DAYS removes the row of a deleted task after 90 days or more, unless it is held, and keeps its costs", async () => {
    const [id, held] = [
      await rig.runToEnd("[[credits 20]]"),
      await rig.runToEnd("[[say Kept]]", {}, await rig.service.person()),
    ];
    const owner = (await rows(`SELECT account_id FROM task WHERE id = '${held}'`))[0]?.["account_id"];
    await rig.ann.v2("task.delete", { task_id: id });
    await rows(`UPDATE task SET deleted_at = ${Date.now()} WHERE id = '${held}'`);
    await rows(`DELETE FROM task_event WHERE task_id = '${held}'`);
    await rows(`DELETE FROM task_text WHERE task_id = '${held}'`);
    await rows(
      `INSERT INTO legal_hold (name, kind, subject, created_at) VALUES ('case', 'person', '${owner}', 1)`,
    );
    const left = async () =>
      (await rows(`SELECT id FROM task WHERE id IN ('${id}', '${held}')`)).map((row) => row["id"]);
    await retain(132.1, { taskDays: 200 });
    expect((await left()).toSorted()).toEqual([id, held].toSorted());
    await rows(`UPDATE task SET deleted_at = ${Date.now() + 44 * dayMs} WHERE id = '${id}'`);
    await retain(133.2, { taskDays: 20 });
    expect((await left()).toSorted()).toEqual([id, held].toSorted());
    await retain(134.3, { taskDays: 20 });
    expect(await left()).toEqual([held]);
    const listed = (await rig.ann.v2("usage.list")).body["data"].find(
      (each: { task_id: string }) => each.task_id === id,
    );
    expect(listed).toMatchObject({ title: "Deleted conversation" });
    await rows("DELETE FROM legal_hold");
  });

  test("USAGE_DAYS deletes single costs and keeps the sums of days and tasks", async () => {
    const id = await rig.runToEnd("[[credits 30]]");
    const list = async () =>
      (await rig.ann.v2("usage.list")).body["data"].find((each: { task_id: string }) => each.task_id === id);
    const before = await list();
    await retain(141, { usageDays: 200 });
    expect(await rows(`SELECT id FROM usage_entry WHERE task_id = '${id}'`)).toHaveLength(1);
    await retain(142 + 62, { usageDays: 62 });
    expect(await rows(`SELECT id FROM usage_entry WHERE task_id = '${id}'`)).toEqual([]);
    expect(await list()).toEqual(before);
    expect(await rows(`SELECT day FROM usage_day WHERE account_id = '${rig.ann.accountId}'`)).not.toEqual([]);
  });
});
