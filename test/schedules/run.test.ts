import { expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { openStore } from "../../src/store/open.ts";
import { describeOnOne, describeOnPostgres, nodesOf } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import { openService } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { everyMinute, minuteMs, schedulesRig } from "./schedules-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";

describeOnPostgres("a due time", (database) => {
  const rig = schedulesRig(database);

  test("has exactly one task, also when several processes handle it many times at once", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { overlap: "allow" });
    const others = await Promise.all(
      Array.from({ length: nodesOf(database) - 1 }, () =>
        openStore({ databaseUrl: rig.db.url, clock: rig.clock, random: systemRandom }),
      ),
    );
    for (const round of [1, 2, 3]) {
      rig.clock.step(minuteMs);
      const stores = [rig.db.store, ...others];
      await Promise.all(Array.from({ length: 9 }, (_, n) => rig.handle(id, stores[n % stores.length])));
      expect(await rig.taskIds(id)).toHaveLength(round);
    }
    await Promise.all(others.map((store) => store.close()));
    const [taskId] = (await rig.taskIds(id)).toReversed();
    expect(await rig.read(ann, id)).toMatchObject({ last_task_id: taskId, failures: 0, status: "active" });
    expect(await rig.auditRow("task.v2.TaskService/CreateTask", taskId)).toMatchObject({
      credential: `schedule:${id}`,
      outcome: "done",
    });
  });

  test("is not handled before it is due, after a pause, and after the schedule is deleted", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann);
    rig.clock.step(minuteMs - 1);
    await rig.handle(id);
    await ann.v2("schedule.pause", { schedule_id: id });
    await rig.nextMinute(id);
    await ann.v2("schedule.delete", { schedule_id: id });
    await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toEqual([]);
  });

  test("is not handled a second time when a clock steps back", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { interval_seconds: undefined, cron: "0 * * * *", overlap: "allow" });
    rig.clock.step(3_600_000);
    await rig.handle(id);
    rig.clock.step(-3_600_000);
    await ann.v2("schedule.update", { schedule_id: id, schedule: { cron: "0 * * * *" } });
    rig.clock.step(3_600_000);
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(1);
  });
});

describeOnOne("a task of a schedule", (database) => {
  const rig = schedulesRig(database);

  test("is that of task.create with the template, and keeps the label of a key that is revoked since", async () => {
    const ann = await rig.person();
    const { body: made } = await ann.v2("project.create", { name: "Garden" });
    const project_id = made["project"].id;
    const template = {
      message: { content: "Water\nthem." },
      project_id,
      title: "Water",
      metadata: { a: "b" },
      agent_profile: "manus-1.6-lite",
    };
    const schema = {
      type: "object",
      properties: { dry: { type: "boolean" } },
      required: ["dry"],
      additionalProperties: false,
    };
    const id = await rig.create(ann, {
      task: { ...template, hide_in_task_list: true, structured_output_schema: schema },
    });
    await rig.db.store.change((tx) => tx.keys.revoke(ann.keyId, rig.clock.now()));
    await rig.nextMinute(id);
    const again = await rig.person({ with: ann, as: ann });
    const [task_id] = await rig.taskIds(id);
    const { body } = await again.v2("task.detail", { task_id });
    expect(body["task"]).toMatchObject({
      title: "Water",
      metadata: { a: "b" },
      task_type: "project",
      hide_in_task_list: true,
    });
    expect(body["task"]).toMatchObject({
      created_by_api_key: { id: ann.keyId },
      agent_profile: "manus-1.6-lite",
      status: "running",
    });
    const { body: said } = await again.v2("task.listMessages", { task_id, order: "asc" });
    expect(said["messages"][0].user_message.content).toBe("Water\nthem.");
  });

  test("belongs to the app that created the schedule, with the app's present rights", async () => {
    const ann = await rig.person();
    const of = await newApp(rig.service, ann);
    const app = await tokenOf(rig.service, ann, { of, now: rig.clock.now() });
    const id = await rig.create(app);
    await rig.nextMinute(id);
    const { body } = await app.v2("task.list");
    expect(body["data"].map((task: { id: string }) => task.id)).toEqual(await rig.taskIds(id));
    await rig.db.store.change((tx) => tx.apps.remove(of.app.clientId, rig.clock.now()));
    await rig.nextMinute(id);
    expect(await rig.read(ann, id)).toMatchObject({ status: "paused", pause_reason: "app_deleted" });
    expect(await rig.auditRow("schedule.v1.ScheduleService/PauseSchedule", id)).toMatchObject({
      credential: `schedule:${id}`,
    });
  });
});

describeOnOne("overlap", (database) => {
  const rig = schedulesRig(database);

  test("skip: no task while an earlier one has not ended", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { overlap: "skip" });
    for (let minute = 0; minute < 3; minute++) await rig.nextMinute(id);
    const [first = ""] = await rig.taskIds(id);
    expect(await rig.taskIds(id)).toEqual([first]);
    await rig.end(first, "stopped");
    await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toHaveLength(2);
  });

  test("queue: one of any number of times waits, and runs when the earlier task has ended", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { overlap: "queue" });
    for (let minute = 0; minute < 4; minute++) await rig.nextMinute(id);
    const [first = ""] = await rig.taskIds(id);
    expect(await rig.taskIds(id)).toHaveLength(1);
    expect(await rig.db.store.schedules.due(rig.clock.now(), 100)).not.toContain(id);
    await rig.end(first, "stopped");
    expect(await rig.db.store.schedules.due(rig.clock.now(), 100)).toContain(id);
    await Promise.all([rig.handle(id), rig.handle(id)]);
    expect(await rig.taskIds(id)).toHaveLength(2);
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(2);
  });

  test("allow: five tasks at most, and runNow refuses a sixth", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { overlap: "allow" });
    for (let minute = 0; minute < 7; minute++) await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toHaveLength(5);
    const refused = await ann.v2("schedule.runNow", { schedule_id: id });
    expect([refused.status, refused.body.error?.message]).toEqual([
      429,
      "5 tasks of the schedule have not ended",
    ]);
  });
});

describeOnOne("missed times", (database) => {
  const rig = schedulesRig(database);

  test.each([
    ["run_once", 10, 1],
    ["skip", 10, 0],
    ["skip", 0, 1],
  ])("%s: after %i missed hours %i task is created", async (missed, hours, count) => {
    const ann = await rig.person();
    const id = await rig.create(ann, { missed, interval_seconds: 3_600, overlap: "allow" });
    rig.clock.step((hours + 1) * 3_600_000 + (hours === 0 ? minuteMs : 2 * minuteMs));
    await rig.handle(id);
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(count);
    expect((await rig.read(ann, id))["next_run_at"]).toBeGreaterThan(rig.clock.now() / 1000);
  });

  test("skip: the last one is not missed when it is due for less than a minute", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann, { missed: "skip" });
    rig.clock.step(10 * minuteMs + 30_000);
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(1);
  });

  test.each([
    ["run_once", 1],
    ["skip", 0],
  ])("%s: a single time that was missed leaves the schedule finished with %i task", async (missed, count) => {
    const ann = await rig.person();
    const at = new Date(rig.clock.now() + minuteMs).toISOString();
    const id = await rig.create(ann, { missed, interval_seconds: undefined, at });
    rig.clock.step(3_600_000);
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(count);
    const schedule = await rig.read(ann, id);
    expect(schedule).toMatchObject({ status: "finished", at });
    expect(schedule).not.toHaveProperty("next_run_at");
  });
});

describeOnOne("failures", (database) => {
  const rig = schedulesRig(database);

  test("five refusals in a row pause the schedule, with one mail; resuming forgets them", async () => {
    const ann = await rig.person();
    const { body } = await ann.v2("project.create", { name: "Garden" });
    const project_id = body["project"].id;
    const id = await rig.create(ann, { task: { ...everyMinute.task, project_id } });
    await ann.v2("project.delete", { project_id });
    for (let failure = 1; failure <= 5; failure++) {
      rig.clock.step(minuteMs);
      await Promise.all([rig.handle(id), rig.handle(id), rig.handle(id)]);
      expect(await rig.read(ann, id)).toMatchObject({
        failures: failure,
        last_error: "project_id: project not found",
      });
    }
    expect(await rig.read(ann, id)).toMatchObject({ status: "paused", pause_reason: "failures" });
    expect(rig.mails.filter((mail) => mail.id === id)).toMatchObject([
      { name: "Report", error: "project_id: project not found" },
    ]);
    expect(await rig.auditRow("schedule.v1.ScheduleService/PauseSchedule", id)).toMatchObject({
      after: '{"reason":"failures"}',
    });
    await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toEqual([]);
    const { body: resumed } = await ann.v2("schedule.resume", { schedule_id: id });
    expect(resumed["schedule"]).toMatchObject({ status: "active", failures: 0 });
    expect(resumed["schedule"]).not.toHaveProperty("last_error");
  });

  test("tasks that fail count, and one that finishes starts the count again", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann);
    for (const status of ["error", "error", "error", "error", "stopped", "error"] as const) {
      await rig.nextMinute(id);
      await rig.end((await rig.taskIds(id)).at(-1) ?? "", status);
    }
    expect(await rig.read(ann, id)).toMatchObject({
      status: "active",
      failures: 1,
      last_error: "a task of the schedule failed",
    });
  });

  test("a spent budget is a refusal", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann);
    const { spaceId } = ann;
    const budget = {
      id: `budget-${id}`,
      spaceId,
      kind: "team",
      subject: spaceId,
      period: "total",
      credits: 0,
    } as const;
    const now = rig.clock.now();
    await rig.db.store.change((tx) =>
      tx.budgets.set({ ...budget, spent: 0, held: 0, since: 0, createdAt: now, updatedAt: now }),
    );
    await rig.nextMinute(id);
    expect(await rig.read(ann, id)).toMatchObject({
      failures: 1,
      last_error: "a budget of the task is spent",
    });
  });

  test("a connector that its user withdraws from the app is a refusal, and five of them pause the schedule", async () => {
    const ann = await rig.person();
    const inBrowser = await ann.session();
    await inBrowser.client(ConnectorService).installConnector({ uid: gmail, name: "" });
    const of = await newApp(rig.service, ann);
    const scopes = ["create_task", "use_connectors"] as const;
    const app = await tokenOf(rig.service, ann, { of, scopes, connectorUids: [gmail], now: rig.clock.now() });
    const id = await rig.create(app, {
      overlap: "allow",
      task: { message: { content: "Report.", connectors: [gmail] } },
    });
    await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toHaveLength(1);
    const { clientId } = of.app;
    await inBrowser.client(OAuth2AppService).updateOAuth2GrantConnectors({ clientId, connectorUids: [] });
    for (let failures = 1; failures <= 5; failures++) {
      await rig.nextMinute(id);
      const last_error = `insufficient_scope: connector ${gmail} not granted`;
      expect(await rig.read(ann, id)).toMatchObject({
        failures,
        last_error,
        status: failures < 5 ? "active" : "paused",
      });
    }
    expect(await rig.read(ann, id)).toMatchObject({ pause_reason: "failures" });
    expect(await rig.taskIds(id)).toHaveLength(1);
  });

  test("an overloaded server is none: the time stays due", async () => {
    const ann = await rig.person();
    const id = await rig.create(ann);
    rig.clock.step(minuteMs);
    const { Failure } = await import("../../src/core/failure.ts");
    const refused = rig.handle(id, {
      ...rig.db.store,
      change: () => Promise.reject(new Failure("resource_exhausted", "full", { retryAfter: 1 })),
    });
    await expect(refused).rejects.toThrow("full");
    await rig.handle(id);
    expect(await rig.taskIds(id)).toHaveLength(1);
  });
});

describeOnPostgres("the processes of a platform", (database) => {
  test("create one task for each due time, and count its end", async () => {
    await using service = await openService({ database, nodes: nodesOf(database) });
    const ann = await service.person();
    const at = new Date(Date.now() + 1_500).toISOString();
    const { body } = await ann.v2("schedule.create", {
      schedule: { name: "Once", at, task: everyMinute.task },
    });
    const schedule_id = body["schedule"].id;
    const read = async () => (await ann.v2("schedule.detail", { schedule_id })).body["schedule"];
    await expect
      .poll(read, { timeout: hangMs })
      .toMatchObject({ last_task_id: expect.any(String), status: "finished" });
    const { body: list } = await ann.v2("task.list");
    expect(list["data"]).toHaveLength(1);
  });
});
