import { describe, expect, test } from "vitest";
import { readProposal } from "../../src/core/schedules/proposal.ts";
import { schedulesMax } from "../../src/core/schedules/schedule.ts";
import { waitForAction } from "../connectors/approval-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";
import { newApp, tokenOf } from "../support/token.ts";

const proposed = "[[schedule Report | 0 9 * * 1 | Europe/Berlin | Write the report.]] [[say Done.]]";

describeOnOne("a schedule that an agent proposes", (database) => {
  const rig = taskRig({ database });
  const schedules = async () => (await rig.ann.v2("schedule.list")).body["data"];
  const confirm = async (id: string, input: object, who: Pick<typeof rig.ann, "v2"> = rig.ann) => {
    const { eventId: event_id } = await waitForAction(rig, id);
    return who.v2("task.confirmAction", { task_id: id, event_id, input });
  };
  const remove = async () => {
    for (const { id } of await schedules()) await rig.ann.v2("schedule.delete", { schedule_id: id });
  };

  test("shows the time zone, the next three times and the message, and its approval creates the schedule once", async () => {
    const id = await rig.create(proposed);
    const wait = await waitForAction(rig, id);
    expect(wait.waiting_for_event_type).toBe("scheduleCreate");
    const settings = {
      name: "Report",
      cron: "0 9 * * 1",
      time_zone: "Europe/Berlin",
      message: "Write the report.",
    };
    expect(wait.used).toMatchObject({
      tool: "schedule_create",
      params: { ...settings, next_times: expect.any(Array) },
    });
    expect(wait.used.params.next_times).toHaveLength(3);
    expect(wait.waiting_description).toMatch(
      /^Create the schedule Report: cron 0 9 \* \* 1\. Next times in Europe\/Berlin: (.* 09:00,?){3}/,
    );
    expect(wait.waiting_description).toContain("Write the report.");
    expect(await schedules()).toEqual([]);
    const decision = { task_id: id, event_id: wait.eventId, input: { accept: true } };
    const replies = await Promise.all([1, 2, 3].map(() => rig.ann.v2("task.confirmAction", decision)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412]);
    const [schedule, ...others] = await schedules();
    expect(others).toEqual([]);
    expect(schedule).toMatchObject({
      name: "Report",
      cron: "0 9 * * 1",
      time_zone: "Europe/Berlin",
      status: "active",
    });
    expect(schedule.task.message.content).toEqual([{ type: "text", text: "Write the report." }]);
    await rig.reach(id, "stopped");
    const uses = (await rig.events(id)).flatMap((event) =>
      event["type"] === "tool_used" ? [event["tool_used"]] : [],
    );
    expect(uses.at(-1)).toMatchObject({
      status: "success",
      result: { accept: true, schedule_id: schedule.id },
    });
    await remove();
  });

  test("is not created when it is refused, and the agent learns it", async () => {
    const id = await rig.create(proposed);
    expect((await confirm(id, { accept: false })).body).toMatchObject({ confirmed: true });
    await rig.reach(id, "stopped");
    const uses = (await rig.events(id)).flatMap((event) =>
      event["type"] === "tool_used" ? [event["tool_used"].status] : [],
    );
    expect(uses).toContain("error");
    expect(await schedules()).toEqual([]);
  });

  test("is covered by no allowance", async () => {
    const allowed = "[[confirm terminalExecute]] [[confirm deployAction]]";
    const id = await rig.create(`${allowed} ${proposed}`);
    await confirm(id, { accept: true, always_allow: true });
    await expect.poll(async () => (await waitForAction(rig, id)).waiting_for_event_type).toBe("deployAction");
    await confirm(id, { accept: true, global_allow: true });
    await expect
      .poll(async () => (await waitForAction(rig, id)).waiting_for_event_type)
      .toBe("scheduleCreate");
    for (const more of [{ always_allow: true }, { global_allow: true }]) {
      expect((await confirm(id, { accept: true, ...more })).status).toBe(400);
    }
    expect(await schedules()).toEqual([]);
    await rig.ann.v2("task.stop", { task_id: id });
  });

  test("belongs to the app of the task, also when the person decides, with the app's present rights", async () => {
    const of = await newApp(rig.service, rig.ann);
    const app = await tokenOf(rig.service, rig.ann, { of });
    const propose = async () =>
      (await app.v2("task.create", { message: { content: proposed } })).body["task_id"];
    const id = await propose();
    expect((await confirm(id, { accept: true })).status).toBe(200);
    const [schedule] = (await app.v2("schedule.list")).body["data"];
    expect(schedule).toMatchObject({ name: "Report" });
    const later = await propose();
    await waitForAction(rig, later);
    await rig.service.store.change((tx) => tx.apps.remove(of.app.clientId, Date.now()));
    const refused = await confirm(later, { accept: true });
    expect([refused.status, refused.body.error?.message]).toEqual([
      412,
      "the schedule cannot be created: app_deleted",
    ]);
    await waitForAction(rig, later);
    expect((await confirm(later, { accept: false })).status).toBe(200);
    await remove();
  });

  test("is refused beyond 100 schedules, and the task still waits", async () => {
    const id = await rig.create(proposed);
    const made = (
      await rig.ann.v2("schedule.create", {
        schedule: { name: "One", cron: "0 9 * * 1", task: { message: { content: "x" } } },
      })
    ).body;
    const row = await rig.service.store.schedules.byId(made["schedule"].id);
    await rig.service.store.change(async (tx) => {
      for (let n = 1; row && n < schedulesMax; n++)
        await tx.schedules.insert({ ...row, id: `${row.id}-${n}` });
    });
    expect((await confirm(id, { accept: true })).status).toBe(429);
    await waitForAction(rig, id);
    await rig.ann.v2("schedule.delete", { schedule_id: made["schedule"].id });
    expect((await confirm(id, { accept: true })).status).toBe(200);
  });
});

describe("a proposal", () => {
  const good = { name: "Report", cron: "0 9 * * 1", message: "Go." };

  test("has the platform's next times and description, not the agent's", () => {
    const { params, description } = readProposal({ ...good, next_times: ["never"] }, "confirm.params", 0);
    expect(params).toEqual({
      ...good,
      time_zone: "UTC",
      next_times: ["1970-01-05T09:00:00.000Z", "1970-01-12T09:00:00.000Z", "1970-01-19T09:00:00.000Z"],
    });
    expect(description).toContain("Next times in UTC: 1970-01-05 09:00, 1970-01-12 09:00, 1970-01-19 09:00.");
  });

  test.each([
    [{ ...good, cron: "x" }, "confirm.params.cron: is not a cron expression"],
    [{ ...good, cron: "0 0 30 2 *" }, "confirm.params.cron: never occurs"],
    [{ ...good, cron: 5 }, "confirm.params.cron: is not a text"],
    [
      { ...good, cron: undefined, interval_seconds: 59 },
      "confirm.params.interval_seconds: is not a whole number from 60",
    ],
    [{ ...good, interval_seconds: 60 }, "confirm.params: must have exactly one of"],
    [{ ...good, time_zone: "Mars/Base" }, "confirm.params.time_zone: is not a name"],
    [{ ...good, message: " " }, "confirm.params.message: must not be empty"],
    [{ ...good, name: "" }, "confirm.params.name: must have 1 to 255"],
    [{ ...good, overlap: "allow" }, "confirm.params: has a member other than"],
  ])("is refused: %j", (params, message) => {
    const given = JSON.parse(JSON.stringify(params));
    expect(() => readProposal(given, "confirm.params", 0)).toThrow(message);
  });
});
