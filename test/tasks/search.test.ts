import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne, openTestStore, runOn } from "../support/database.ts";
import { openService } from "../support/service.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { runJobs } from "../support/timed-jobs.ts";

describeOnOne("query of task.list", (database) => {
  const rig = taskRig({ database, idle: true });
  const list = async (query: string, who = rig.ann, more: object = {}) =>
    (await who.v2("task.list", { query, ...more })).body;
  const ids = async (...args: Parameters<typeof list>): Promise<string[]> =>
    (await list(...args))["data"].map(({ id }: { id: string }) => id);

  test("finds titles and messages, on every wire, together with other filters", async () => {
    const who = await rig.service.person();
    const id = await rig.create(
      "Compare the prices of garden chairs",
      { title: "Chairs", metadata: { ticket: "7" } },
      who,
    );
    await rig.create("Sort the post", {}, who);
    for (const query of ["CHAIRS pri", "garden", "chairs garden compare"])
      expect(await ids(query, who)).toEqual([id]);
    expect(await ids("chairs", who, { metadata: { ticket: "7" }, order_by: "updated_at" })).toEqual([id]);
    expect(await ids("chairs", who, { metadata: { ticket: "8" } })).toEqual([]);
    const reply = await who.v2("task.list", { query: "garden" }, { method: "GET" });
    expect(reply.body["data"]).toMatchObject([{ id }]);
    const { data, warnings } = await who.client(TaskService, "grpc").listTasks({ query: "garden" });
    expect([data.map((task) => task.id), warnings]).toEqual([[id], []]);
    expect(await list("garden", who)).not.toHaveProperty("warnings");
    expect(await ids("garden")).toEqual([]);
  });

  test("finds messages and titles as they are now, and no deleted task", async () => {
    const who = await rig.service.person();
    const id = await rig.create("first", { title: "before" }, who);
    await rig.send(id, "second", {}, who);
    await who.v2("task.update", { task_id: id, title: "after" });
    expect(await ids("first second after", who)).toEqual([id]);
    expect(await ids("before", who)).toEqual([]);
    await who.v2("task.delete", { task_id: id, stop: true });
    expect(await ids("second", who)).toEqual([]);
  });

  test("does not filter when it is empty, and finds nothing without letters and digits", async () => {
    const who = await rig.service.person();
    const id = await rig.create("Go!", {}, who);
    expect(await ids("", who)).toEqual([id]);
    for (const query of ["!", " ", "☀️", '"', "*"]) expect(await ids(query, who)).toEqual([]);
  });

  test("warns while tasks of the caller are not indexed, and is complete after maintenance", async () => {
    await using over = await openTestStore(database);
    await using service = await openService({ over, idle: true });
    const who = await service.person();
    const id = await rig.create("Old words", {}, who);
    await runOn(over.url, "DELETE FROM task_text");
    await runOn(over.url, "UPDATE task SET indexed_seq = -1");
    const warnings = ["older tasks are being indexed: some may be missing"];
    expect(await list("old", who)).toMatchObject({ data: [], warnings });
    expect((await list("old", who, { unknown: 1 }))["warnings"]).toEqual([
      'unknown member "unknown"',
      ...warnings,
    ]);
    expect((await who.client(TaskService, "connect-json").listTasks({ query: "old" })).warnings).toEqual(
      warnings,
    );
    expect((await who.v2("task.list")).body).not.toHaveProperty("warnings");
    await runJobs(over.store, systemClock);
    const body = await list("old", who);
    expect(body["data"]).toMatchObject([{ id }]);
    expect(body).not.toHaveProperty("warnings");
  });

  describe("refuses", () => {
    test.each([
      ["201 characters", "x".repeat(201), /^query: .*200/],
      [
        "17 words",
        Array.from({ length: 17 }, (_, n) => `w${n}`).join(" "),
        /^query: must have at most 16 words/,
      ],
      ["a number", 5, /^query: /],
    ])("%s, with the rule", async (_what, query, message) => {
      const reply = await rig.ann.v2("task.list", { query });
      expect(reply).toMatchObject(invalid("query"));
      expect(reply.body.error?.message).toMatch(message);
    });

    test("a cursor of another query", async () => {
      const who = await rig.service.person();
      for (const _ of [1, 2]) await rig.create("same words", {}, who);
      const { next_cursor: cursor } = await list("same", who, { limit: 1 });
      expect(await list("same", who, { limit: 1, cursor })).toMatchObject({ ok: true, has_more: false });
      expect(await who.v2("task.list", { query: "words", cursor })).toMatchObject(invalid("cursor"));
    });
  });

  test("accepts 200 characters and 16 words, where letters without spaces are one word", async () => {
    expect(
      await list(`${"東".repeat(100)} ${Array.from({ length: 15 }, () => "w").join(" ")}`),
    ).toMatchObject({ ok: true, data: [] });
    expect(await list("🌱".repeat(200))).toMatchObject({ ok: true, data: [] });
  });
});
