import { beforeAll, expect, test } from "vitest";
import { eventId, type TaskEvent } from "../../src/core/tasks/event.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { describeOnEach } from "../support/database.ts";
import { putWebhook, type ToldEvent, toldTo } from "../support/webhooks.ts";
import { atOnce, raceRig } from "./race-rig.ts";

const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"], additionalProperties: false };

describeOnEach("what webhooks are told", (kind) => {
  const rig = raceRig(kind);
  let webhookId: string;
  beforeAll(async () => {
    webhookId = await putWebhook(rig.db, { ...rig.person, eventTypes: webhookEventTypes });
  });

  const create = async (content: string): Promise<string> => {
    const { body } = await rig.person.v2("task.create", { message: { content }, structured_output_schema: schema });
    return String(body["task_id"]);
  };
  const toldByTask = async () => Map.groupBy(await toldTo(rig.db, webhookId), ({ taskId }) => taskId);
  const eventsOf = (id: string) => rig.store.events.list(id, { order: "asc", limit: 200, verbose: true });

  /** The tellings that a task's own log calls for, as `seq type`. */
  function calledFor(events: readonly TaskEvent[]): string[] {
    return events.flatMap((event, i) => {
      if (i === 0) return [`${event.seq} task_created`];
      if (event.type !== "status_update" || event.payload.agentStatus === "running") return [];
      const stopped = events[i - 1]?.type === "user_stop" ? "task_cancelled" : "task_stopped";
      return [`${event.seq} ${stopped}`];
    });
  }

  async function check(ids: readonly string[]): Promise<readonly (readonly ToldEvent[])[]> {
    const byTask = await toldByTask();
    const all = ids.map((id) => byTask.get(id) ?? []);
    for (const [i, id] of ids.entries()) {
      const events = await eventsOf(id);
      const told = all[i] ?? [];
      expect(told.map(({ seq, type }) => `${seq} ${type}`)).toEqual(calledFor(events));
      for (const { seq, body } of told) expect(JSON.parse(body).task_detail.task_event_id).toBe(eventId(id, seq));
      const results = events.filter(({ type }) => type === "structured_output_result").length;
      expect(told.filter(({ body }) => "structured_output" in JSON.parse(body).task_detail)).toHaveLength(results);
    }
    return all;
  }

  test("of tasks that finish while they are stopped: the one or the other, once", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[say Done]]`);
      expect((await rig.call("task.stop", id)).status).toBe(200);
      await rig.atRest(id);
      return id;
    });
    for (const told of await check(ids)) expect(told).toHaveLength(2);
  });

  test("of tasks that finish while they are written to: each finish that is one, and the value with the first", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[value {"total": 1}]]`);
      expect((await rig.send(id, '[[value {"total": 2}]]')).status).toBe(200);
      await rig.atRest(id);
      return id;
    });
    for (const told of await check(ids)) {
      const stops = told.filter(({ type }) => type === "task_stopped");
      expect([1, 2]).toContain(stops.length);
      // A turn that is followed by another at once says nothing: its value is the second message's.
      expect(JSON.parse(stops[0]?.body ?? "").task_detail.structured_output.value).toEqual({ total: stops.length === 1 ? 2 : 1 });
    }
  });

  test("of tasks that finish while they are stopped and written to", async () => {
    const ids = await atOnce(async (i) => {
      const id = await create(`[[sleep ${i / 500}]] [[say Done]]`);
      const [stopped, sent] = await Promise.all([rig.call("task.stop", id), rig.send(id, "[[say Third]]")]);
      expect([stopped.status, sent.status]).toEqual([200, 200]);
      await rig.atRest(id);
      return id;
    });
    await check(ids);
  });
});
