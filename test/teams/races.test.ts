import { expect, test } from "vitest";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import type { V2Reply } from "../support/wires.ts";
import { newEmail, type Team, teamsRig } from "./teams-rig.ts";

const many = 50;
const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));
const inactive = { status: "USER_STATUS_INACTIVE" };

/** How often each outcome came. */
function counted(replies: readonly V2Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { body } of replies) counts[body.error?.code ?? "ok"] = (counts[body.error?.code ?? "ok"] ?? 0) + 1;
  return counts;
}

describeOnEach("fifty calls at once", (database) => {
  const rig = teamsRig(database);

  /** What holds of a team whatever is done to it in whatever order. */
  async function checkTeam({ owner }: Team): Promise<void> {
    const rows = await rowsIn(
      rig.db.url,
      `SELECT id, email, status, role, delegated_to, original_email FROM membership WHERE space_id = '${owner.spaceId}'`,
    );
    const living = rows.filter(({ status }) => status !== "removed");
    expect(living.filter(({ role }) => role === "owner")).toHaveLength(1);
    expect(new Set(living.map(({ email }) => email)).size).toBe(living.length);
    for (const { id, status, delegated_to, original_email } of rows) {
      expect([id, delegated_to === null]).toEqual([id, original_email === null]);
      if (delegated_to === null) continue;
      expect(status).not.toBe("removed");
      const holder = living.find((row) => row["id"] === delegated_to);
      expect(holder).toMatchObject({ status: "active", delegated_to: null });
    }
  }

  test("that remove one member: one does, and the others find nobody", async () => {
    const team = await rig.team();
    const { team_user_id } = await rig.add(team);
    const replies = await times(many, () => team.management.v2("team.user.remove", { team_user_id }));
    expect(counted(replies)).toEqual({ ok: 1, not_found: many - 1 });
    await checkTeam(team);
  });

  test("that add one address: one does, here and in another team at the same time", async () => {
    const teams = [await rig.team(), await rig.team()];
    const email = newEmail();
    const body = { email, role: "TEAM_MEMBER_ROLE_MEMBER" };
    const replies = await Promise.all(teams.map((team) => times(many / 2, () => team.management.v2("team.user.create", body))));
    for (const each of replies) expect(counted(each)).toEqual({ ok: 1, already_exists: many / 2 - 1 });
    expect(await rowsIn(rig.db.url, `SELECT email FROM account WHERE email = '${email}'`)).toHaveLength(1);
    for (const team of teams) await checkTeam(team);
  });

  test("that remove a profile and hand it over: it is removed, and was handed over once at most", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    const { team_user_id } = ivo;
    await rig.ok(team, "update", { team_user_id, ...inactive });
    const handing = { team_user_id, target_team_user_id: lea.team_user_id, role: "MIGRATED_PROFILE_ROLE_MEMBER" };
    const replies = await times(many, (n) =>
      team.management.v2(`team.user.${n % 2 === 0 ? "delegate" : "remove"}`, n % 2 === 0 ? handing : { team_user_id }),
    );
    const removals = replies.filter((_, n) => n % 2 === 1);
    expect(counted(removals)).toEqual({ ok: 1, not_found: many / 2 - 1 });
    expect(counted(replies.filter((_, n) => n % 2 === 0))["ok"] ?? 0).toBeLessThanOrEqual(1);
    expect(await rig.ok(team, "detail", { team_user_id: lea.team_user_id })).not.toHaveProperty("user.delegated_profiles");
    await checkTeam(team);
  });

  test("that hand profiles to somebody who is removed: whatever was handed over is told as returned, and none is held by nobody", async () => {
    const team = await rig.team();
    const lea = await rig.add(team);
    const pool = await times(many - 1, () => rig.add(team));
    for (const { team_user_id } of pool) await rig.ok(team, "update", { team_user_id, ...inactive });
    const target_team_user_id = lea.team_user_id;
    const [removal, ...handed] = await times(many, async (n) => {
      const source = pool[n - 1];
      if (!source) return team.management.v2("team.user.remove", { team_user_id: target_team_user_id });
      const role = "MIGRATED_PROFILE_ROLE_MEMBER";
      return team.management.v2("team.user.delegate", { team_user_id: source.team_user_id, target_team_user_id, role });
    });
    const done = handed.filter(({ body }) => body.ok).map(({ body }) => String(body["user"].team_user_id));
    const returned = (removal?.body["cascade_affected"] ?? []).map(({ team_user_id }: { team_user_id: string }) => team_user_id);
    expect(returned.toSorted()).toEqual(done.toSorted());
    expect(counted(handed)["not_found"] ?? 0).toBe(many - 1 - done.length);
    expect(await rig.ok(team, "list", { status_filter: "USER_STATUS_INACTIVE" })).toMatchObject({ total: many - 1 });
    await checkTeam(team);
  });

  test("that reclaim a profile and hand it over again take turns: each hand-over but the last was reclaimed", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    const { team_user_id } = ivo;
    await rig.ok(team, "update", { team_user_id, ...inactive });
    const handing = { team_user_id, target_team_user_id: lea.team_user_id, role: "MIGRATED_PROFILE_ROLE_DEACTIVATED" };
    const replies = await times(many, (n) =>
      team.management.v2(`team.user.${n % 2 === 0 ? "delegate" : "reclaim"}`, n % 2 === 0 ? handing : { team_user_id }),
    );
    const won = (odd: number) => counted(replies.filter((_, n) => n % 2 === odd));
    expect(["ok", "failed_precondition"]).toEqual(expect.arrayContaining(Object.keys({ ...won(0), ...won(1) })));
    const { user } = await rig.ok(team, "detail", { team_user_id });
    const held = Object.hasOwn(Object(user), "delegated_to");
    expect((won(0)["ok"] ?? 0) - (won(1)["ok"] ?? 0)).toBe(held ? 1 : 0);
    await checkTeam(team);
  });

  test.each([
    "remove",
    "update",
    "delegate",
  ] as const)("of somebody whom %s takes out at that moment leave nothing that runs or lets in", async (how) => {
    const team = await rig.team();
    const lea = await rig.member(team);
    const session = await lea.session();
    const { team_user_id: holder } = await rig.add(team);
    const first = await lea.v2("task.create", { message: { content: "[[forever]]" } });
    await lea.v2("task.stop", { task_id: first.body["task_id"] });
    const at = { team_user_id: lea.id };
    const calls = times(many, async (n) => {
      if (n === many / 2) {
        if (how === "delegate") return rig.delegated(team, lea.id, holder, "MIGRATED_PROFILE_ROLE_MEMBER");
        return rig.ok(team, how, { ...at, ...(how === "update" ? inactive : {}) });
      }
      if (n % 5 === 0)
        return session
          .client(ApiKeyService)
          .createApiKey({ name: `k${n}` })
          .catch(() => null);
      if (n % 5 === 1) return lea.v2("task.sendMessage", { task_id: first.body["task_id"], message: { content: "[[forever]]" } });
      return lea.v2("task.create", { message: { content: "[[forever]]" } });
    });
    await calls;
    const of = `account_id = '${lea.accountId}' AND space_id = '${lea.spaceId}'`;
    expect(await rowsIn(rig.db.url, `SELECT id, status FROM task WHERE ${of} AND status = 'running'`)).toEqual([]);
    expect(await rowsIn(rig.db.url, `SELECT id FROM session WHERE ${of}`)).toEqual([]);
    // A key of a member who is only inactive waits for them.
    if (how !== "update") expect(await rowsIn(rig.db.url, `SELECT id FROM api_key WHERE ${of} AND revoked_at IS NULL`)).toEqual([]);
    expect((await lea.v2("user.me")).status).toBe(401);
    await checkTeam(team);
  });
});
