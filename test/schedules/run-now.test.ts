import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import { hangMs } from "../support/patience.ts";
import { openService } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { everyMinute, schedulesRig } from "./schedules-rig.ts";

describeOnOne("schedule.runNow", (database) => {
  const rig = schedulesRig(database);

  test("creates a task with any overlap policy, and leaves the times as they are", async () => {
    const ann = await rig.person();
    for (const overlap of ["skip", "queue", "allow"]) {
      const id = await rig.create(ann, { overlap });
      const before = await rig.read(ann, id);
      const started: string[] = [];
      for (let n = 0; n < 2; n++) {
        const { status, body } = await ann.v2("schedule.runNow", { schedule_id: id });
        expect([status, body["task_title"], body["task_url"]]).toEqual([
          200,
          "Report.",
          expect.stringContaining(body["task_id"]),
        ]);
        started.push(body["task_id"]);
      }
      expect((await rig.taskIds(id)).toSorted()).toEqual(started.toSorted());
      const after = await rig.read(ann, id);
      expect(after).toMatchObject({
        next_run_at: before["next_run_at"],
        last_task_id: started[1],
        status: "active",
      });
      expect(await rig.auditRow("schedule.v1.ScheduleService/RunSchedule", id)).toMatchObject({
        outcome: "done",
      });
      // A due time counts these tasks as earlier ones.
      await rig.nextMinute(id);
      expect(await rig.taskIds(id)).toHaveLength(overlap === "allow" ? 3 : 2);
    }
  });

  test("creates a task of a paused and of a finished schedule, which stays as it is", async () => {
    const ann = await rig.person();
    const paused = await rig.create(ann);
    await ann.v2("schedule.pause", { schedule_id: paused });
    const finished = await rig.create(ann, {
      interval_seconds: undefined,
      at: new Date(rig.clock.now() + 60_000).toISOString(),
    });
    await rig.nextMinute(finished);
    for (const [id, status, count] of [
      [paused, "paused", 1],
      [finished, "finished", 2],
    ] as const) {
      expect((await ann.v2("schedule.runNow", { schedule_id: id })).status).toBe(200);
      expect(await rig.taskIds(id)).toHaveLength(count);
      expect(await rig.read(ann, id)).toMatchObject({ status });
    }
  });

  test("counts no refusal as a failure, but the failure of its task", async () => {
    const ann = await rig.person();
    const { body } = await ann.v2("project.create", { name: "Garden" });
    const project_id = body["project"].id;
    const id = await rig.create(ann, { task: { ...everyMinute.task, project_id } });
    await ann.v2("schedule.runNow", { schedule_id: id });
    await rig.end((await rig.taskIds(id))[0] ?? "", "error");
    expect(await rig.read(ann, id)).toMatchObject({
      failures: 1,
      last_error: "a task of the schedule failed",
    });
    await ann.v2("project.delete", { project_id });
    const refused = await ann.v2("schedule.runNow", { schedule_id: id });
    expect([refused.status, refused.body.error?.message]).toEqual([404, "project_id: project not found"]);
    expect(await rig.read(ann, id)).toMatchObject({ failures: 1, status: "active" });
    expect(await rig.taskIds(id)).toHaveLength(1);
  });

  test("acts for the owner of the schedule, also when an app or the person calls it for the other", async () => {
    const ann = await rig.person();
    const now = rig.clock.now();
    const of = await newApp(rig.service, ann);
    const app = await tokenOf(rig.service, ann, { of, now });
    const all = await tokenOf(rig.service, ann, { now, scopes: ["manage_all_tasks"] });
    const [ofAnn, ofApp] = [await rig.create(ann), await rig.create(app)];
    for (const [who, schedule_id] of [
      [ann, ofApp],
      [all, ofAnn],
    ] as const)
      expect((await who.v2("schedule.runNow", { schedule_id })).status).toBe(200);
    const listed = async (who: typeof app) =>
      (await who.v2("task.list")).body["data"].map(({ id }: { id: string }) => id);
    expect(await listed(app)).toEqual(await rig.taskIds(ofApp));
    expect(await rig.db.store.tasks.byId((await rig.taskIds(ofAnn))[0] ?? "")).toMatchObject({
      clientId: null,
    });
    expect((await app.v2("schedule.runNow", { schedule_id: ofAnn })).status).toBe(404);
    await rig.db.store.change((tx) => tx.apps.remove(of.app.clientId, now));
    const refused = await ann.v2("schedule.runNow", { schedule_id: ofApp });
    expect([refused.status, refused.body.error?.message]).toEqual([
      412,
      "the schedule cannot create tasks: app_deleted",
    ]);
  });
});

describeOnOne("the fifth failed task in a row", (database) => {
  test("pauses the schedule, and the mail server gets one mail to its creator", async () => {
    await using mails = await openMailServer();
    await using service = await openService({
      database,
      env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com" },
    });
    const ann = await service.person();
    const task = { message: { content: "[[fail internal | No paper.]]" } };
    const { body } = await ann.v2("schedule.create", {
      schedule: { name: "Report", cron: "0 0 1 1 *", task },
    });
    const schedule_id = body["schedule"].id;
    const read = async () => (await ann.v2("schedule.detail", { schedule_id })).body["schedule"];
    for (let failures = 1; failures <= 6; failures++) {
      await ann.v2("schedule.runNow", { schedule_id });
      await expect.poll(read, { timeout: hangMs, interval: 20 }).toMatchObject({ failures });
    }
    expect(await read()).toMatchObject({ status: "paused", pause_reason: "failures" });
    await expect.poll(() => mails.received.length, { timeout: hangMs }).toBe(1);
    const profile = await service.store.accounts.profile(ann.accountId, ann.spaceId);
    expect(mails.received[0]?.to).toEqual([profile?.email]);
    expect(mails.received[0]?.text).toContain("Subject: Your schedule Report is paused");
    expect(mails.received[0]?.text).toContain("The last failure: a task of the schedule failed.");
  });
});
