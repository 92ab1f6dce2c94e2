import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { agentMessage } from "../store/samples.ts";
import { describeOnPostgres } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered, taskInStore } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { atOnce, callCount, raceRig } from "./race-rig.ts";

describeOnPostgres("deleting", (kind) => {
  const rig = raceRig(kind);

  const eventsLeft = async (id: string) =>
    Number(
      (await runDirectly(rig.db, `SELECT COUNT(*) AS n FROM task_event WHERE task_id = '${id}'`))[0]?.["n"],
    );
  const tombstone = async (id: string) =>
    (await runDirectly(rig.db, `SELECT status, node_id, deleted_at FROM task WHERE id = '${id}'`))[0];

  async function expectGone(id: string): Promise<void> {
    expect((await rig.call("task.detail", id)).status).toBe(404);
    expect(await eventsLeft(id), `${id}: events after the tombstone`).toBe(0);
    const row = await tombstone(id);
    expect(row?.["deleted_at"]).not.toBeNull();
    expect([row?.["status"], row?.["node_id"]]).toEqual(["stopped", null]);
  }

  test(`${callCount} tasks whose runs still write deletes all of their data, and the runs add nothing after`, async () => {
    const contentOf = Array.from({ length: 30 }, (_, i) => `[[say ${i}]]`).join(" ");
    const ids = await atOnce(async (i) => {
      const id = await rig.create(`[[sleep ${i / 1_000}]] ${contentOf}`);
      expect((await rig.call("task.stop", id)).status).toBe(200);
      expect((await rig.call("task.delete", id)).status).toBe(200);
      return id;
    });
    // Every runner of one of them has had time for its next event when a later task is finished.
    await rig.waitUntilSettled(await rig.create("Hello"));
    for (const id of ids) await expectGone(id);
  });

  test(`${callCount} tasks whose runners get no notification and keep writing ends the tasks`, async () => {
    const ids = await atOnce(async () => {
      const id = await rig.create("[[forever]]");
      const { fence } = await until(rig.store, id, ({ nodeId }) => nodeId !== null);
      let deleted = false;
      async function writeOn(): Promise<void> {
        for (let after = 0; after < 3; after += deleted ? 1 : 0) {
          await turn();
          await rig.store.change((tx) =>
            tx.tasks.advance(id, { now: Date.now(), when: { fence }, events: [agentMessage("On and on")] }),
          );
        }
      }
      async function deleteIt(): Promise<void> {
        try {
          expect((await rig.call("task.stop", id)).status).toBe(200);
          expect((await rig.call("task.delete", id)).status).toBe(200);
        } finally {
          deleted = true;
        }
      }
      await Promise.all([writeOn(), deleteIt()]);
      return id;
    });
    for (const id of ids) await expectGone(id);
  });

  test(`${callCount} tasks to which a message is sent at the same moment: one of both takes effect completely`, async () => {
    const outcomes = await atOnce(async () => {
      const id = await rig.create("Hello");
      await rig.waitUntilSettled(id);
      const [deleted, sent] = await Promise.all([rig.call("task.delete", id), rig.send(id, "More")]);
      return { id, deleted: deleted.status, sent: sent.status };
    });
    for (const { id, deleted, sent } of outcomes) {
      if (deleted === 200) {
        // The message came too late, or reached a task that had already ended.
        expect([404, 200]).toContain(sent);
        await expectGone(id);
      } else {
        expect([deleted, sent]).toEqual([412, 200]);
        await rig.waitUntilSettled(id);
        checkAnswered(await taskInStore(rig.store, id));
      }
    }
  });

  test(`one task ${callCount} times deletes it once`, async () => {
    const id = await rig.create("Hello");
    await rig.waitUntilSettled(id);
    const answers = await atOnce(() => rig.call("task.delete", id));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(callCount - 1);
    await expectGone(id);
  });
});
