import { expect, test } from "vitest";
import { schedulesMax } from "../../src/core/schedules/schedule.ts";
import { endMembership } from "../../src/core/use-cases/end-membership.ts";
import { appsOf } from "../settings/settings-rig.ts";
import { unpublished } from "../support/claims.ts";
import { describeOnOne } from "../support/database.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { everyMinute, schedulesRig } from "./schedules-rig.ts";

const inGmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const task = { message: { content: "Report." } };
const cron = { name: "Report", cron: "0 9 * * 1", task };

describeOnOne("a schedule", (database) => {
  const rig = schedulesRig(database);

  test("is returned as it was set, with defaults, on detail and list", async () => {
    const ann = await rig.person();
    const metadata = { team: "sales" };
    const { status, body } = await ann.v2("schedule.create", {
      schedule: { ...cron, time_zone: "Europe/Berlin", task: { ...task, title: "Weekly", metadata } },
    });
    expect(status).toBe(200);
    const { schedule } = body;
    expect(schedule).toMatchObject({
      ...{
        name: "Report",
        cron: "0 9 * * 1",
        time_zone: "Europe/Berlin",
        missed: "run_once",
        overlap: "skip",
        status: "active",
      },
      ...{ failures: 0, next_run_at: expect.any(Number), task: { title: "Weekly", metadata } },
    });
    expect(schedule.task.message.content).toEqual([{ type: "text", text: "Report." }]);
    expect((await ann.v2("schedule.detail", { schedule_id: schedule.id })).body["schedule"]).toEqual(
      schedule,
    );
    expect((await ann.v2("schedule.list")).body["data"]).toEqual([schedule]);
    expect(await rig.auditRow("schedule.v1.ScheduleService/CreateSchedule", schedule.id)).toMatchObject({
      outcome: "done",
    });
    const again = await ann.v2("schedule.create", {
      schedule: { ...schedule, task: schedule.task, at: undefined },
    });
    expect(again.body["schedule"].task).toEqual(schedule.task);
  });

  test("has pages, newest first", async () => {
    const ann = await rig.person();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.unshift(await rig.create(ann));
      rig.clock.step(1);
    }
    const { body: first } = await ann.v2("schedule.list", { limit: 2 });
    const { body: second } = await ann.v2("schedule.list", { limit: 2, cursor: first["next_cursor"] });
    expect([...first["data"], ...second["data"]].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect([first["has_more"], second["has_more"]]).toEqual([true, false]);
  });

  test("is one of at most 100 of an account in a space, also when many are created at once", async () => {
    const ann = await rig.person();
    const made = await rig.create(ann);
    const row = await rig.db.store.schedules.byId(made);
    await rig.db.store.change(async (tx) => {
      for (let n = 0; row && n < schedulesMax - 3; n++)
        await tx.schedules.insert({ ...row, id: `${made}-${n}` });
    });
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => ann.v2("schedule.create", { schedule: everyMinute })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429, 429]);
  });
});

describeOnOne("settings", (database) => {
  const rig = schedulesRig(database);

  test.each([
    [{ name: "" }, "schedule.name: must have 1 to 255 characters and no control characters"],
    [{ name: undefined }, "schedule.name: must have 1 to 255 characters and no control characters"],
    [{ task: undefined }, "schedule.task: is required"],
    [{ cron: undefined }, "schedule: must have exactly one of cron, interval_seconds and at"],
    [{ interval_seconds: 60 }, "schedule: must have exactly one of cron, interval_seconds and at"],
    [{ cron: "0 0 30 2 *" }, "schedule.cron: never occurs"],
    [
      { cron: "* * * * * *" },
      expect.stringContaining("schedule.cron: is not a cron expression of five fields"),
    ],
    [{ cron: undefined, interval_seconds: 59 }, expect.stringContaining("schedule.interval_seconds")],
    [{ cron: undefined, at: "2001-01-01T00:00:00Z" }, "schedule.at: is not in the future"],
    [{ time_zone: "Mars/Base" }, expect.stringContaining("schedule.time_zone")],
    [{ task: { message: { content: " " } } }, "schedule.task.message.content: must not be empty"],
    [
      { task: { message: { content: [{ type: "file", file_id: "file-x" }] } } },
      "schedule.task.message.content[0]: must be text, because files expire",
    ],
    [
      { task: { message: { content: "x", connectors: [inGmail] } } },
      expect.stringContaining("schedule.task.message.connectors[0]"),
    ],
    [{ task: { ...task, agent_profile: "grand" } }, expect.stringContaining("schedule.task.agent_profile")],
  ])("are refused: %j", async (change, message) => {
    const ann = await rig.person();
    const { status, body } = await ann.v2("schedule.create", { schedule: { ...cron, ...change } });
    expect([status, body.error]).toMatchObject([400, { code: "invalid_argument", message }]);
    expect((await ann.v2("schedule.list")).body["data"]).toEqual([]);
  });

  test("change each alone, and a new time replaces the former one", async () => {
    const ann = await rig.person();
    const schedule_id = await rig.create(ann);
    const before = await rig.read(ann, schedule_id);
    const update = async (schedule: object) =>
      (await ann.v2("schedule.update", { schedule_id, schedule })).body;
    expect((await update({ name: "Digest" }))["schedule"]).toEqual({ ...before, name: "Digest" });
    const { schedule } = await update({ cron: "0 9 * * *", overlap: "allow" });
    expect(schedule).toMatchObject({ cron: "0 9 * * *", overlap: "allow", name: "Digest" });
    expect(schedule).not.toHaveProperty("interval_seconds");
    const moved = (await update({ time_zone: "Asia/Tokyo" }))["schedule"];
    expect(moved.next_run_at).not.toBe(schedule.next_run_at);
    expect((await update({})).error?.message).toBe("schedule: must have a member to change");
  });

  test("pause and resume change nothing twice, and a resumed schedule is due in the future", async () => {
    const ann = await rig.person();
    const schedule_id = await rig.create(ann);
    const paused = (await ann.v2("schedule.pause", { schedule_id })).body["schedule"];
    expect(paused).toMatchObject({ status: "paused", pause_reason: "user" });
    expect(paused).not.toHaveProperty("next_run_at");
    expect((await ann.v2("schedule.pause", { schedule_id })).body["schedule"]).toEqual(paused);
    rig.clock.step(3_600_000);
    const resumed = (await ann.v2("schedule.resume", { schedule_id })).body["schedule"];
    expect(resumed["next_run_at"]).toBeGreaterThan(rig.clock.now() / 1000);
    expect((await ann.v2("schedule.resume", { schedule_id })).body["schedule"]).toEqual(resumed);
  });
});

describeOnOne("the reach of callers", (database) => {
  const rig = schedulesRig(database);

  test("of another account, of another space and a deleted one: not found", async () => {
    const ann = await rig.person();
    const [schedule_id, deleted] = [await rig.create(ann), await rig.create(ann)];
    await ann.v2("schedule.delete", { schedule_id: deleted });
    const strangers = [
      await rig.person({ with: ann, role: "admin" }),
      await rig.person({ as: ann }),
      await rig.person(),
    ];
    const calls = [
      ...strangers.map((who) => [who, schedule_id] as const),
      [ann, deleted] as const,
      [ann, "unknown"] as const,
    ];
    for (const [who, id] of calls)
      for (const name of ["detail", "update", "pause", "resume", "runNow", "delete"]) {
        const more = name === "update" ? { schedule: { name: "x" } } : {};
        const { status, body } = await who.v2(`schedule.${name}`, { schedule_id: id, ...more });
        expect([name, status, body.error?.message]).toEqual([name, 404, "schedule not found"]);
      }
    expect(await rig.read(ann, schedule_id)).toMatchObject({ status: "active" });
  });

  test("an app with create_task reaches its own; one with manage_all_tasks all, but sets no task of another owner", async () => {
    const ann = await rig.person();
    const now = rig.clock.now();
    const own = await tokenOf(rig.service, ann, { now });
    const all = await tokenOf(rig.service, ann, { now, scopes: ["manage_all_tasks"] });
    const [ofAnn, ofApp] = [await rig.create(ann), await rig.create(own)];
    const listed = async (who: typeof own) =>
      (await who.v2("schedule.list")).body["data"].map(({ id }: { id: string }) => id).toSorted();
    expect(await listed(own)).toEqual([ofApp]);
    expect(await listed(all)).toEqual([ofAnn, ofApp].toSorted());
    expect((await own.v2("schedule.detail", { schedule_id: ofAnn })).status).toBe(404);
    const refused = await all.v2("schedule.update", { schedule_id: ofAnn, schedule: { task } });
    expect([
      refused.status,
      (await all.v2("schedule.update", { schedule_id: ofAnn, schedule: { name: "x" } })).status,
    ]).toEqual([403, 200]);
  });
});

describeOnOne("the end of an access", (database) => {
  const rig = schedulesRig(database);

  test("pauses schedules in its own change, and reactivation does not resume them", async () => {
    const owner = await rig.person();
    const manager = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    for (const [change, pause_reason] of [
      [{ status: "USER_STATUS_INACTIVE" }, "member_deactivated"],
      [{ status: "USER_STATUS_REMOVED" }, "member_removed"],
    ] as const) {
      const ben = await rig.person({ with: owner, role: "member" });
      const id = await rig.create(ben);
      const { teamId } = (await rig.db.store.accounts.ownerOf(owner.spaceId)) ?? { teamId: "" };
      const member = await rig.db.store.accounts.member(teamId, ben.accountId);
      const call = (status: object) =>
        manager.v2("team.user.update", { team_user_id: member?.id, ...status });
      expect((await call(change)).status).toBe(200);
      expect(await rig.db.store.schedules.byId(id)).toMatchObject({
        status: "paused",
        pauseReason: pause_reason,
        nextAt: null,
      });
      if (pause_reason === "member_deactivated") await call({ status: "USER_STATUS_ACTIVE" });
      await rig.nextMinute(id);
      expect(await rig.taskIds(id)).toEqual([]);
    }
  });

  test("by a delegation leaves the schedule paused, also when the delegated profile is an active member", async () => {
    const owner = await rig.person();
    const manager = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    const ben = await rig.person({ with: owner, role: "member" });
    const id = await rig.create(ben);
    const { teamId } = (await rig.db.store.accounts.ownerOf(owner.spaceId)) ?? { teamId: "" };
    const [member, target] = await Promise.all(
      [ben, owner].map((who) => rig.db.store.accounts.member(teamId, who.accountId)),
    );
    await manager.v2("team.user.update", { team_user_id: member?.id, status: "USER_STATUS_INACTIVE" });
    const delegation = { target_team_user_id: target?.id, role: "MIGRATED_PROFILE_ROLE_MEMBER" };
    expect((await manager.v2("team.user.delegate", { team_user_id: member?.id, ...delegation })).status).toBe(
      200,
    );
    expect(await rig.db.store.accounts.member(teamId, ben.accountId)).toMatchObject({ status: "active" });
    expect(await rig.db.store.schedules.byId(id)).toMatchObject({
      status: "paused",
      pauseReason: "member_deactivated",
    });
    await rig.nextMinute(id);
    expect(await rig.taskIds(id)).toEqual([]);
  });

  test("of a profile that is delegated pauses what is active at that time", async () => {
    const owner = await rig.person();
    const id = await rig.create(owner);
    const person = { accountId: owner.accountId, spaceId: owner.spaceId };
    await rig.db.store.change((tx) =>
      endMembership(tx, { clock: rig.clock, publishTask: unpublished }, person, "delegated"),
    );
    expect(await rig.read(await rig.person({ as: owner, with: owner }), id)).toMatchObject({
      ...{ status: "paused", pause_reason: "profile_delegated" },
    });
  });

  test("of an app, by its user or by its deletion, pauses the app's schedules only", async () => {
    const ann = await rig.person();
    const ofAnn = await rig.create(ann);
    for (const reason of ["grant_revoked", "app_deleted"]) {
      const of = await newApp(rig.service, ann);
      const app = await tokenOf(rig.service, ann, { of, now: rig.clock.now() });
      const id = await rig.create(app);
      const oauth = appsOf(ann);
      if (reason === "grant_revoked") await oauth.revokeOAuth2Grant({ clientId: of.app.clientId });
      else await oauth.deleteOAuth2App({ clientId: of.app.clientId });
      expect(await rig.read(ann, id)).toMatchObject({ status: "paused", pause_reason: reason });
      const refused = await ann.v2("schedule.resume", { schedule_id: id });
      expect([refused.status, refused.body.error?.message]).toEqual([
        412,
        `the schedule cannot create tasks: ${reason}`,
      ]);
    }
    expect(await rig.read(ann, ofAnn)).toMatchObject({ status: "active" });
  });
});
