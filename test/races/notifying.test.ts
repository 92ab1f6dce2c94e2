import { beforeAll, expect, test } from "vitest";
import { eventId, type TaskEvent } from "../../src/core/tasks/event.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { describeOnPostgres } from "../support/database.ts";
import { eventsFor, type OutboxEvent, putWebhook } from "../support/webhooks.ts";
import { atOnce, raceRig } from "./race-rig.ts";

const schema = {
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
  additionalProperties: false,
};

describeOnPostgres("what webhooks are notified", (kind) => {
  const rig = raceRig(kind);
  let webhookId: string;
  beforeAll(async () => {
    webhookId = await putWebhook(rig.store, { ...rig.person, eventTypes: webhookEventTypes });
  });

  const create = async (content: string): Promise<string> => {
    const { body } = await rig.person.v2("task.create", {
      message: { content },
      structured_output_schema: schema,
    });
    return String(body["task_id"]);
  };
  const eventsByTask = async () => Map.groupBy(await eventsFor(rig.db, webhookId), ({ taskId }) => taskId);
  const eventsOf = (id: string) => rig.store.events.list(id, { order: "asc", limit: 200, verbose: true });

  /** The notifications that follow from a task's event log, as `seq type`. */
  function calledFor(events: readonly TaskEvent[]): string[] {
    return events.flatMap((event, i) => {
      if (i === 0) return [`${event.seq} task_created`];
      if (event.type !== "status_update" || event.payload.agentStatus === "running") return [];
      const stopped = events[i - 1]?.type === "user_stop" ? "task_cancelled" : "task_stopped";
      return [`${event.seq} ${stopped}`];
    });
  }

  async function check(ids: readonly string[]): Promise<readonly (readonly OutboxEvent[])[]> {
    const byTask = await eventsByTask();
    const all = ids.map((id) => byTask.get(id) ?? []);
    for (const [i, id] of ids.entries()) {
      const events = await eventsOf(id);
      const notified = all[i] ?? [];
      expect(notified.map(({ seq, type }) => `${seq} ${type}`)).toEqual(calledFor(events));
      for (const { seq, body } of notified)
        expect(JSON.parse(body).task_detail.task_event_id).toBe(eventId(id, seq));
      const results = events.filter(({ type }) => type === "structured_output_result").length;
      expect(notified.filter(({ body }) => "structured_output" in JSON.parse(body).task_detail)).toHaveLength(
        results,
      );
    }
    return all;
  }

  test("of tasks that finish while they are stopped: one of both events, once", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[say Done]]`);
      expect((await rig.call("task.stop", id)).status).toBe(200);
      await rig.waitUntilSettled(id);
      return id;
    });
    for (const notified of await check(ids)) expect(notified).toHaveLength(2);
  });

  test("of tasks that finish while they receive messages: one for each finish, with the value of the first", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[value {"total": 1}]]`);
      expect((await rig.send(id, '[[value {"total": 2}]]')).status).toBe(200);
      await rig.waitUntilSettled(id);
      return id;
    });
    for (const notified of await check(ids)) {
      const stops = notified.filter(({ type }) => type === "task_stopped");
      expect([1, 2]).toContain(stops.length);
      // A turn that is followed by another at once sends no notification: the value is the second message's.
      expect(JSON.parse(stops[0]?.body ?? "").task_detail.structured_output.value).toEqual({
        total: stops.length === 1 ? 2 : 1,
      });
    }
  });

  test("of tasks that finish while they are stopped and receive messages", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[say Done]]`);
      const [stopped, sent] = await Promise.all([rig.call("task.stop", id), rig.send(id, "[[say Third]]")]);
      expect([stopped.status, sent.status]).toEqual([200, 200]);
      await rig.waitUntilSettled(id);
      return id;
    });
    await check(ids);
  });
});
