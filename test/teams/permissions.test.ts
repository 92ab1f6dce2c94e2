import { expect, test } from "vitest";
import { TeamUserManagementApiV2Service } from "../../src/gen/proto/team/v2/team_user_service_pb.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { type Member, newEmail, type Team, teamsRig } from "./teams-rig.ts";

const MEMBER = "TEAM_MEMBER_ROLE_MEMBER";
const SUPER_ADMIN = "TEAM_MEMBER_ROLE_SUPER_ADMIN";
const inactive = { status: "USER_STATUS_INACTIVE" };
const removed = { status: "USER_STATUS_REMOVED" };

describeOnOne("the permission to manage team users", (database) => {
  const rig = teamsRig(database);

  /** Calls each operation on a new member, by name. */
  async function outcomesFor(team: Team, who: Pick<Member, "v2">) {
    const outcomes: Record<string, string> = {};
    for (const name of ["list", "detail", "create", "update", "delegate", "reclaim", "rename", "remove"]) {
      const { team_user_id } = await rig.add(team);
      if (name === "delegate") await rig.ok(team, "update", { team_user_id, ...inactive });
      if (name === "reclaim") await rig.delegateProfile(team, team_user_id, team.ownerId);
      const more = {
        list: {},
        create: { email: newEmail(), role: MEMBER },
        update: { team_user_id, ...inactive },
        delegate: { team_user_id, target_team_user_id: team.ownerId, role: "MIGRATED_PROFILE_ROLE_MEMBER" },
        rename: { team_user_id, display_name: "x" },
      };
      const body = { team_user_id, ...more }[name] ?? { team_user_id };
      const { status, body: answer } = await who.v2(
        `team.user.${name}`,
        (more as Record<string, object>)[name] ?? body,
      );
      outcomes[name] = answer.error ? `${status} ${answer.error.code}` : "ok";
    }
    return new Set(Object.values(outcomes));
  }

  test("covers everything for a management key, the owner, and a super admin (spec/decisions.md 2)", async () => {
    const team = await rig.team();
    const root = await rig.member(team, "super_admin");
    for (const who of [team.management, team.owner, root])
      expect(await outcomesFor(team, who)).toEqual(new Set(["ok"]));
    const session = await root.session();
    await session.client(TeamUserManagementApiV2Service).createUser({ email: newEmail(), role: 3 });
  });

  test("is missing in any other role, with a key of another kind, and in a personal space", async () => {
    const team = await rig.team();
    const forbidden = new Set(["403 permission_denied"]);
    for (const role of ["admin", "member", "guest"] as const)
      expect(await outcomesFor(team, await rig.member(team, role))).toEqual(forbidden);
    for (const kind of ["ediscovery", "siem", "team_asset_mgmt"] as const) {
      expect(await outcomesFor(team, await rig.person({ as: team.owner, with: team.owner, kind }))).toEqual(
        forbidden,
      );
    }
    expect(await outcomesFor(team, await rig.person({ personal: true }))).toEqual(forbidden);
    // No API creates such a key; if one existed, it would have no team.
    expect(await outcomesFor(team, await rig.person({ personal: true, kind: "team_user_mgmt" }))).toEqual(
      forbidden,
    );
  });

  test("of a super admin does not include granting or revoking that role: not by a role, a removal or a delegation", async () => {
    const team = await rig.team();
    const root = await rig.member(team, "super_admin");
    const peer = await rig.add(team, { role: SUPER_ADMIN });
    const off = await rig.add(team, { role: SUPER_ADMIN });
    await rig.ok(team, "update", { team_user_id: off.team_user_id, ...inactive });
    const { team_user_id: plain } = await rig.add(team);
    const delegation = { team_user_id: off.team_user_id, target_team_user_id: plain };
    const rows: [name: string, body: object, outcome: string][] = [
      ["create", { email: newEmail(), role: SUPER_ADMIN }, "403 permission_denied"],
      ["update", { team_user_id: plain, role: SUPER_ADMIN }, "403 permission_denied"],
      ["update", { team_user_id: peer.team_user_id, role: MEMBER }, "403 permission_denied"],
      ["update", { team_user_id: peer.team_user_id, ...removed }, "403 permission_denied"],
      ["update", { team_user_id: root.id, role: MEMBER }, "403 permission_denied"],
      ["remove", { team_user_id: peer.team_user_id }, "403 permission_denied"],
      ["remove", { team_user_id: root.id }, "403 permission_denied"],
      ["delegate", { ...delegation, role: "MIGRATED_PROFILE_ROLE_MEMBER" }, "403 permission_denied"],
      // No caller can change the owner.
      ["update", { team_user_id: team.ownerId, role: MEMBER }, "412 failed_precondition"],
      ["remove", { team_user_id: team.ownerId }, "412 failed_precondition"],
      // These calls keep the role.
      ["update", { team_user_id: peer.team_user_id, role: SUPER_ADMIN, ...inactive }, "200 ok"],
      ["update", { team_user_id: peer.team_user_id, status: "USER_STATUS_ACTIVE" }, "200 ok"],
      ["delegate", { ...delegation, role: "MIGRATED_PROFILE_ROLE_DEACTIVATED" }, "200 ok"],
      ["reclaim", { team_user_id: off.team_user_id }, "200 ok"],
      ["rename", { team_user_id: peer.team_user_id, display_name: "x" }, "200 ok"],
    ];
    const outcomes = [];
    for (const [name, body] of rows) {
      const { status, body: answer } = await root.v2(`team.user.${name}`, body);
      outcomes.push([name, body, `${status} ${answer.error?.code ?? "ok"}`]);
    }
    expect(outcomes).toEqual(rows);
    const session = (await root.session()).client(TeamUserManagementApiV2Service);
    expect(await outcomeOf(session.removeMember({ teamUserId: peer.team_user_id }))).toBe(
      "PermissionDenied: a super admin cannot grant or revoke the role of a super admin",
    );
    // The owner and the key may.
    expect((await team.owner.v2("team.user.update", { team_user_id: plain, role: SUPER_ADMIN })).status).toBe(
      200,
    );
    await rig.ok(team, "remove", { team_user_id: peer.team_user_id });
  });
});
