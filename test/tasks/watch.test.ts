import { describe, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { watchWires } from "../support/watcher.ts";
import { numbersUpTo, seqsOf, watchRig } from "./watch-rig.ts";

describeOnOne("task.watch", (database) => {
  const rig = watchRig(database);

  describe.each(watchWires)("over %s", (wire) => {
    test("sends the existing events, and then new ones, each once and in order", async () => {
      const id = await rig.create();
      const watching = rig.watch(wire, { taskId: id });
      await watching.until(2);
      for (const count of [1, 3, 2]) await rig.add(id, count);
      await watching.until(8);
      expect(seqsOf(watching)).toEqual(numbersUpTo(8));
    });

    test("sends each event as listMessages shows it, verbose ones too", async () => {
      const id = await rig.create();
      await rig.add(id, 2);
      const watching = rig.watch(wire, { taskId: id });
      await watching.until(4);
      const { body } = await rig.ann.v2("task.listMessages", { task_id: id, verbose: true, order: "asc" });
      expect(watching.events).toMatchObject(
        body["messages"].map(({ id, seq, type }: (typeof watching.events)[number]) => ({ id, seq, type })),
      );
    });

    test("sends a long history page by page, without a gap", async () => {
      const id = await rig.create();
      await rig.add(id, 298);
      const watching = rig.watch(wire, { taskId: id });
      await watching.until(300);
      await rig.add(id, 101);
      await watching.until(401);
      expect(seqsOf(watching)).toEqual(numbersUpTo(401));
    });

    test("begins after after_seq, also where no event exists so far", async () => {
      const id = await rig.create();
      const [early, ahead] = [
        rig.watch(wire, { taskId: id, afterSeq: 1 }),
        rig.watch(wire, { taskId: id, afterSeq: 4 }),
      ];
      await early.until(1);
      await rig.add(id, 3);
      await early.until(4);
      await ahead.until(1);
      expect([seqsOf(early), seqsOf(ahead)]).toEqual([[2, 3, 4, 5], [5]]);
    });

    test("stays open across turns", async () => {
      const id = await rig.create();
      const watching = rig.watch(wire, { taskId: id });
      await rig.settle(id);
      await watching.until(4);
      await rig.ann.v2("task.sendMessage", { task_id: id, message: { content: "More" } });
      await watching.until(6);
      expect(watching.events.map(({ type }) => type)).toEqual([
        ...["user_message", "status_update", "status_update", "structured_output_result"],
        ...["user_message", "status_update"],
      ]);
    });

    test.each([
      "stopped",
      "waiting",
      "error",
    ] as const)("with until_settled ends after the transaction that leaves running for %s", async (status) => {
      const id = await rig.create();
      const watching = rig.watch(wire, { taskId: id, untilSettled: true });
      await watching.until(2);
      await rig.add(id);
      await watching.until(3);
      await rig.settle(id, status);
      expect(await watching.end).toBe("ok");
      expect(watching.events.at(-1)).toMatchObject({ seq: 5, type: "structured_output_result" });
    });

    test("with until_settled sends the remaining events of a settled task, and ends", async () => {
      const id = await rig.create();
      await rig.add(id, 200);
      await rig.settle(id);
      const watching = rig.watch(wire, { taskId: id, afterSeq: 50, untilSettled: true });
      expect(await watching.end).toBe("ok");
      expect(seqsOf(watching)).toEqual(numbersUpTo(204, 51));
    });

    test.each([
      0, 2, 100,
    ])("with until_settled and no event after %i more on a settled task is empty", async (more) => {
      const id = await rig.create();
      await rig.settle(id);
      const watching = rig.watch(wire, { taskId: id, afterSeq: 4 + more, untilSettled: true });
      expect(await watching.end).toBe("ok");
      expect(watching.events).toEqual([]);
    });

    test("ends with not_found when the task is deleted", async () => {
      const id = await rig.create();
      const watching = rig.watch(wire, { taskId: id });
      await watching.until(2);
      await rig.remove(id);
      expect(await watching.end).toBe("not_found: task not found");
    });

    test.each([
      ["an unknown id", async () => ({ taskId: "nobody" })],
      ["another's task", async () => ({ taskId: await rig.create(await rig.service.person()) })],
      [
        "a colleague's task",
        async () => ({ taskId: await rig.create(await rig.service.person({ with: rig.ann })) }),
      ],
    ])("is refused immediately for %s", async (_what, query) => {
      const watching = rig.watch(wire, await query());
      expect(await watching.end).toMatch(/^not_found: task not found( \(404\))?$/);
    });

    test.each<[what: string, query: object, named: string]>([
      ["no task_id", { taskId: "" }, "task_id"],
      ["after_seq below 0", { taskId: "a", afterSeq: -1 }, "after_seq"],
    ])("is refused with %s", async (_what, query, named) => {
      const watching = rig.watch(wire, query as { taskId: string });
      expect(await watching.end).toMatch(new RegExp(`^invalid_argument: ${named}: `));
    });
  });
});
