import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { lockActiveMember } from "../../src/core/accounts/caller.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { sampleTask } from "../store/samples.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { V2Reply } from "../support/wires.ts";
import { newEmail, type Team, teamsRig } from "./teams-rig.ts";

const many = 50;
const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));
const inactive = { status: "USER_STATUS_INACTIVE" };

/** The number of replies for each outcome. */
function countOutcomes(replies: readonly V2Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { body } of replies)
    counts[body.error?.code ?? "ok"] = (counts[body.error?.code ?? "ok"] ?? 0) + 1;
  return counts;
}

describeOnOne("fifty calls at once", (database) => {
  const rig = teamsRig(database);

  /** The invariants of a team, for any calls in any order. */
  async function checkTeam({ owner }: Team): Promise<void> {
    const rows = await rowsIn(
      rig.db.url,
      `SELECT id, email, status, role, delegated_to, original_email FROM membership WHERE space_id = '${owner.spaceId}'`,
    );
    const current = rows.filter(({ status }) => status !== "removed");
    expect(current.filter(({ role }) => role === "owner")).toHaveLength(1);
    expect(new Set(current.map(({ email }) => email)).size).toBe(current.length);
    for (const { id, status, delegated_to, original_email } of rows) {
      expect([id, delegated_to === null]).toEqual([id, original_email === null]);
      if (delegated_to === null) continue;
      expect(status).not.toBe("removed");
      const holder = current.find((row) => row["id"] === delegated_to);
      expect(holder).toMatchObject({ status: "active", delegated_to: null });
    }
  }

  test("that remove one member: one succeeds, and the others find no member", async () => {
    const team = await rig.team();
    const { team_user_id } = await rig.add(team);
    const replies = await times(many, () => team.management.v2("team.user.remove", { team_user_id }));
    expect(countOutcomes(replies)).toEqual({ ok: 1, not_found: many - 1 });
    await checkTeam(team);
  });

  test("that add one address: one succeeds, here and in another team at the same time", async () => {
    const teams = [await rig.team(), await rig.team()];
    const email = newEmail();
    const body = { email, role: "TEAM_MEMBER_ROLE_MEMBER" };
    const replies = await Promise.all(
      teams.map((team) => times(many / 2, () => team.management.v2("team.user.create", body))),
    );
    for (const each of replies) expect(countOutcomes(each)).toEqual({ ok: 1, already_exists: many / 2 - 1 });
    expect(await rowsIn(rig.db.url, `SELECT email FROM account WHERE email = '${email}'`)).toHaveLength(1);
    for (const team of teams) await checkTeam(team);
  });

  test("that remove and delegate a profile: it is removed, and was delegated at most once", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    const { team_user_id } = ivo;
    await rig.ok(team, "update", { team_user_id, ...inactive });
    const delegation = {
      team_user_id,
      target_team_user_id: lea.team_user_id,
      role: "MIGRATED_PROFILE_ROLE_MEMBER",
    };
    const replies = await times(many, (n) =>
      team.management.v2(
        `team.user.${n % 2 === 0 ? "delegate" : "remove"}`,
        n % 2 === 0 ? delegation : { team_user_id },
      ),
    );
    const removals = replies.filter((_, n) => n % 2 === 1);
    expect(countOutcomes(removals)).toEqual({ ok: 1, not_found: many / 2 - 1 });
    expect(countOutcomes(replies.filter((_, n) => n % 2 === 0))["ok"] ?? 0).toBeLessThanOrEqual(1);
    expect(await rig.ok(team, "detail", { team_user_id: lea.team_user_id })).not.toHaveProperty(
      "user.delegated_profiles",
    );
    await checkTeam(team);
  });

  test("that delegate profiles to a member being removed: every delegated profile is reported as returned, and none has a missing holder", async () => {
    const team = await rig.team();
    const lea = await rig.add(team);
    const pool = await times(many - 1, () => rig.add(team));
    for (const { team_user_id } of pool) await rig.ok(team, "update", { team_user_id, ...inactive });
    const target_team_user_id = lea.team_user_id;
    const [removal, ...delegations] = await times(many, async (n) => {
      const source = pool[n - 1];
      if (!source) return team.management.v2("team.user.remove", { team_user_id: target_team_user_id });
      const role = "MIGRATED_PROFILE_ROLE_MEMBER";
      return team.management.v2("team.user.delegate", {
        team_user_id: source.team_user_id,
        target_team_user_id,
        role,
      });
    });
    const done = delegations
      .filter(({ body }) => body.ok)
      .map(({ body }) => String(body["user"].team_user_id));
    const returned = (removal?.body["cascade_affected"] ?? []).map(
      ({ team_user_id }: { team_user_id: string }) => team_user_id,
    );
    expect(returned.toSorted()).toEqual(done.toSorted());
    expect(countOutcomes(delegations)["not_found"] ?? 0).toBe(many - 1 - done.length);
    expect(await rig.ok(team, "list", { status_filter: "USER_STATUS_INACTIVE" })).toMatchObject({
      total: many - 1,
    });
    await checkTeam(team);
  });

  test("that reclaim and delegate a profile alternate: each delegation except the last one was reclaimed", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    const { team_user_id } = ivo;
    await rig.ok(team, "update", { team_user_id, ...inactive });
    const delegation = {
      team_user_id,
      target_team_user_id: lea.team_user_id,
      role: "MIGRATED_PROFILE_ROLE_DEACTIVATED",
    };
    const replies = await times(many, (n) =>
      team.management.v2(
        `team.user.${n % 2 === 0 ? "delegate" : "reclaim"}`,
        n % 2 === 0 ? delegation : { team_user_id },
      ),
    );
    const outcomesOf = (odd: number) => countOutcomes(replies.filter((_, n) => n % 2 === odd));
    expect(["ok", "failed_precondition"]).toEqual(
      expect.arrayContaining(Object.keys({ ...outcomesOf(0), ...outcomesOf(1) })),
    );
    const { user } = await rig.ok(team, "detail", { team_user_id });
    const held = Object.hasOwn(Object(user), "delegated_to");
    expect((outcomesOf(0)["ok"] ?? 0) - (outcomesOf(1)["ok"] ?? 0)).toBe(held ? 1 : 0);
    await checkTeam(team);
  });

  test("a removal waits for a change that began earlier, and ends what it made; a later change is refused", async () => {
    const team = await rig.team();
    const lea = await rig.member(team);
    const at = { accountId: lea.accountId, spaceId: lea.spaceId };
    const [held, go] = [Promise.withResolvers<boolean>(), Promise.withResolvers<void>()];
    const making = rig.service.store.change(async (tx) => {
      held.resolve(await tx.members.lockActive(at));
      await go.promise;
      return (await tx.tasks.insert(sampleTask({ ...at, status: "running" }), [])).task;
    });
    expect(await held.promise).toBe(true);
    const removal = rig.ok(team, "remove", { team_user_id: lea.id });
    // PostgreSQL reports which transaction waits for a lock; in SQLite changes are always sequential.
    const waits = "SELECT COUNT(*) AS count FROM pg_locks WHERE NOT granted";
    while (database === "postgresql" && Number((await rowsIn(rig.db.url, waits))[0]?.["count"]) === 0)
      await turn();
    go.resolve();
    const { id } = await making;
    await removal;
    expect(await rowsIn(rig.db.url, `SELECT status FROM task WHERE id = '${id}'`)).toEqual([
      { status: "stopped" },
    ]);
    expect(await rig.service.store.change((tx) => tx.members.lockActive(at))).toBe(false);
    const credential = { kind: "key", keyKind: "general", id: lea.keyId, scopes: null } as const;
    const late = rig.service.store.change((tx) =>
      lockActiveMember(tx, { ...at, credential, role: "member", locale: "en" }),
    );
    await expect(late).rejects.toMatchObject({
      reason: "unauthenticated",
      message: "Invalid or missing API key",
    });
  });

  test.each([
    "remove",
    "update",
    "delegate",
  ] as const)("of a member removed by %s at that moment leave no running task and no working credential", async (change) => {
    const team = await rig.team();
    const lea = await rig.member(team);
    const session = await lea.session();
    const { team_user_id: holder } = await rig.add(team);
    const first = await lea.v2("task.create", { message: { content: "[[forever]]" } });
    await lea.v2("task.stop", { task_id: first.body["task_id"] });
    const at = { team_user_id: lea.id };
    const calls = times(many, async (n) => {
      if (n === many / 2) {
        if (change === "delegate")
          return rig.delegateProfile(team, lea.id, holder, "MIGRATED_PROFILE_ROLE_MEMBER");
        return rig.ok(team, change, { ...at, ...(change === "update" ? inactive : {}) });
      }
      if (n % 5 === 0)
        return session
          .client(ApiKeyService)
          .createApiKey({ name: `k${n}` })
          .catch(() => null);
      if (n % 5 === 1)
        return lea.v2("task.sendMessage", {
          task_id: first.body["task_id"],
          message: { content: "[[forever]]" },
        });
      return lea.v2("task.create", { message: { content: "[[forever]]" } });
    });
    await calls;
    const of = `account_id = '${lea.accountId}' AND space_id = '${lea.spaceId}'`;
    expect(
      await rowsIn(rig.db.url, `SELECT id, status FROM task WHERE ${of} AND status = 'running'`),
    ).toEqual([]);
    expect(await rowsIn(rig.db.url, `SELECT id FROM session WHERE ${of}`)).toEqual([]);
    // The keys of an inactive member stay for the reactivation.
    if (change !== "update")
      expect(await rowsIn(rig.db.url, `SELECT id FROM api_key WHERE ${of} AND revoked_at IS NULL`)).toEqual(
        [],
      );
    expect((await lea.v2("user.me")).status).toBe(401);
    await checkTeam(team);
  });
});
