import { describe, expect, test } from "vitest";
import { describeOnPostgres } from "../support/database.ts";
import { type CheckedTask, checkAnswered, taskInStore } from "../support/invariants.ts";
import { atOnce, callCount, raceRig } from "./race-rig.ts";

/** Ends a little later each time, so that simultaneous calls meet runs at each of their steps. */
const message = (i: number) => `[[say First]] [[sleep ${i / 500}]] [[say Second]] Hello`;
/** Keeps a run writing, so that a stop arrives during its writes. */
const writing = Array.from({ length: 20 }, (_, i) => `[[say ${i}]]`).join(" ");
const count = ({ events }: CheckedTask, type: string, text?: string) =>
  events.filter((event) => event.type === type && (text === undefined || event.text === text)).length;

describeOnPostgres("the end of a turn", (kind) => {
  const rig = raceRig(kind);

  describe(`against ${callCount} stops`, () => {
    test("of as many tasks: each ends once, by the run or by the stop", async () => {
      const seen = await atOnce(async (i) => {
        const id = await rig.create(`${message(i)} ${writing}`);
        expect((await rig.call("task.stop", id)).status).toBe(200);
        expect(await rig.waitUntilSettled(id)).toMatchObject({ status: "stopped", nodeId: null });
        return taskInStore(rig.store, id);
      });
      for (const task of seen) {
        checkAnswered(task);
        expect(count(task, "user_stop")).toBeLessThanOrEqual(1);
        expect(count(task, "status_update")).toBe(2);
      }
    });

    test("of one task: one of them stops it, and none fails", async () => {
      const id = await rig.create("[[forever]]");
      const stops = await atOnce(() => rig.call("task.stop", id));
      expect(stops.map(({ status }) => status)).toEqual(stops.map(() => 200));
      const seen = await taskInStore(rig.store, id);
      checkAnswered(seen);
      expect(count(seen, "user_stop")).toBe(1);
    });
  });

  describe(`against ${callCount} messages`, () => {
    test("to as many tasks: each is answered, and no turn runs twice", async () => {
      const seen = await atOnce(async (i) => {
        const id = await rig.create(message(i));
        await new Promise((resolve) => setImmediate(resolve));
        expect((await rig.send(id, "[[say Third]]")).status).toBe(200);
        await rig.waitUntilSettled(id);
        return taskInStore(rig.store, id);
      });
      for (const task of seen) {
        checkAnswered(task);
        expect(count(task, "user_message")).toBe(2);
        for (const text of ["First", "Second", "Third"])
          expect(count(task, "assistant_message", text), `${task.id}: ${text}`).toBe(1);
      }
    });

    test("to one task: each is stored, numbered and answered once", async () => {
      const id = await rig.create("[[say Begun]] Hello");
      const sent = await atOnce((i) => rig.send(id, `[[say Answer ${i}]]`));
      expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
      await rig.waitUntilSettled(id);
      const seen = await taskInStore(rig.store, id);
      checkAnswered(seen);
      expect(count(seen, "user_message")).toBe(1 + callCount);
      for (let i = 0; i < callCount; i += 1)
        expect(count(seen, "assistant_message", `Answer ${i}`), `answer ${i}`).toBe(1);
    });
  });

  test(`against ${callCount} stops and messages at once: the last one decides`, async () => {
    const seen = await atOnce(async (i) => {
      const id = await rig.create(message(i));
      const [stopped, sent] = await Promise.all([rig.call("task.stop", id), rig.send(id, "[[say Third]]")]);
      expect([stopped.status, sent.status]).toEqual([200, 200]);
      await rig.waitUntilSettled(id);
      return taskInStore(rig.store, id);
    });
    for (const task of seen) {
      checkAnswered(task);
      expect(count(task, "assistant_message", "Third")).toBeLessThanOrEqual(1);
    }
  });
});
