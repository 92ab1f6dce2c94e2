import { describe, expect, test } from "vitest";
import { hashPassword } from "../../src/core/sign-in/password.ts";
import { ApiKeyKind } from "../../src/gen/proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { describeOnOne, nodesOf, rowsIn } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { keysOf, outcomeOf, settingsRig } from "./settings-rig.ts";

const minute = 60_000;

describeOnOne("a team's ownership", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock, nodes: nodesOf(database) });

  const memberOf = async ({ accountId, spaceId }: Person) => {
    const member = await rig.service.store.accounts.member(`team-${spaceId}`, accountId);
    if (!member) throw new Error("no member");
    return member;
  };
  const rolesIn = async (...people: Person[]) =>
    (await Promise.all(people.map(memberOf))).map(({ role }) => role);
  const owners = async ({ spaceId }: Person) =>
    (
      await rowsIn(
        rig.db.url,
        `SELECT account_id FROM membership WHERE space_id = '${spaceId}' AND role = 'owner'`,
      )
    ).map((row) => row["account_id"]);
  const team = async (role: "super_admin" | "admin" | "member" | "guest" = "admin") => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann, role });
    return { ann, bo, teamUserId: (await memberOf(bo)).id };
  };
  const transfer = async (who: Person, teamUserId: string, { provedAt = clock.now(), password = "" } = {}) =>
    outcomeOf(
      (await who.session({ provedAt })).client(TeamService).transferOwnership({ teamUserId, password }),
    );

  test.each([
    "super_admin",
    "admin",
  ] as const)("moves to an active %s, and the old owner becomes a super admin", async (role) => {
    const { ann, bo, teamUserId } = await team(role);
    expect(await transfer(ann, teamUserId)).toBe("let in");
    expect(await rolesIn(ann, bo)).toEqual(["super_admin", "owner"]);
    expect(await owners(ann)).toEqual([bo.accountId]);
    expect(await rig.auditRow("settings.v1.TeamService/TransferOwnership", teamUserId)).toMatchObject({
      account_id: ann.accountId,
    });
    expect(await transfer(ann, teamUserId)).toMatch(/^PermissionDenied: /);
    expect(await transfer(bo, (await memberOf(ann)).id)).toBe("let in");
    expect(await rolesIn(ann, bo)).toEqual(["owner", "super_admin"]);
  });

  test("does not move to an heir who is not an active super admin or admin", async () => {
    for (const role of ["member", "guest"] as const) {
      const { ann, teamUserId } = await team(role);
      expect(await transfer(ann, teamUserId)).toBe(
        "FailedPrecondition: the new owner must be an active super admin or admin of the team",
      );
      expect(await rolesIn(ann)).toEqual(["owner"]);
    }
    const { ann, bo, teamUserId } = await team();
    expect(await transfer(ann, (await memberOf(ann)).id)).toMatch(/^FailedPrecondition: /);
    await runDirectly(rig.db, `UPDATE membership SET status = 'inactive' WHERE id = '${teamUserId}'`);
    expect(await transfer(ann, teamUserId)).toMatch(/^FailedPrecondition: /);
    await runDirectly(rig.db, `UPDATE membership SET status = 'removed' WHERE id = '${teamUserId}'`);
    expect(await transfer(ann, teamUserId)).toBe("NotFound: member not found");
    const stranger = await team();
    expect(await transfer(ann, stranger.teamUserId)).toBe("NotFound: member not found");
    expect(await transfer(ann, bo.accountId)).toBe("NotFound: member not found");
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  test("can only be transferred by the owner, with a session and without a key", async () => {
    const { ann, teamUserId } = await team();
    for (const role of ["super_admin", "admin", "member", "guest"] as const) {
      expect(await transfer(await rig.person({ with: ann, role }), teamUserId)).toMatch(
        /^PermissionDenied: /,
      );
    }
    expect(await outcomeOf(ann.client(TeamService).transferOwnership({ teamUserId }))).toMatch(
      /^PermissionDenied: /,
    );
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  describe("requires a fresh proof (spec/decisions.md 7)", () => {
    test("at most five minutes old, without a password", async () => {
      const { ann, bo, teamUserId } = await team();
      expect(await transfer(ann, teamUserId, { provedAt: clock.now() - 5 * minute - 1 })).toMatch(
        /^FailedPrecondition: confirm your identity again/,
      );
      expect(await owners(ann)).toEqual([ann.accountId]);
      expect(await transfer(ann, teamUserId, { provedAt: clock.now() - 5 * minute })).toBe("let in");
      expect(await owners(ann)).toEqual([bo.accountId]);
    });

    test("or the password, which counts for a session of any age, and a wrong one is refused for a session of any age", async () => {
      const { ann, bo, teamUserId } = await team();
      const stored = await hashPassword("correct horse battery", { account: "" });
      await rig.service.store.change((tx) => tx.signIns.setPassword(ann.accountId, stored));
      expect(await transfer(ann, teamUserId, { password: "wrong horse battery" })).toBe(
        "PermissionDenied: password: is wrong",
      );
      expect(await owners(ann)).toEqual([ann.accountId]);
      const old = clock.now() - 29 * 24 * 60 * minute;
      expect(await transfer(ann, teamUserId, { provedAt: old, password: "correct horse battery" })).toBe(
        "let in",
      );
      expect(await owners(ann)).toEqual([bo.accountId]);
      expect(await transfer(bo, (await memberOf(ann)).id, { password: "correct horse battery" })).toBe(
        "PermissionDenied: password: is wrong",
      );
    });
  });

  test("is protected against guessing: the 11th password in a minute is not checked, over all nodes", async () => {
    const { ann, teamUserId } = await team();
    const outcomes = [];
    for (let i = 1; i <= 11; i += 1)
      outcomes.push(await transfer(ann, teamUserId, { password: "wrong horse battery" }));
    expect(outcomes.slice(0, 10)).toEqual(Array<string>(10).fill("PermissionDenied: password: is wrong"));
    expect(outcomes[10]).toBe("ResourceExhausted: too many passwords tried");
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  test("moves once for two concurrent heirs", async () => {
    const { ann, bo, teamUserId } = await team();
    const carl = await rig.person({ with: ann, role: "admin" });
    const outcomes = await Promise.all(
      [teamUserId, (await memberOf(carl)).id].map((id) => transfer(ann, id)),
    );
    expect(outcomes.filter((outcome) => outcome === "let in")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome.startsWith("PermissionDenied: "))).toHaveLength(1);
    expect(await owners(ann)).toEqual([outcomes[0] === "let in" ? bo.accountId : carl.accountId]);
  });

  test("moves with the enterprise keys: they keep their permissions, and only the new owner sees and revokes them", async () => {
    const { ann, bo, teamUserId } = await team();
    const siem = await rig.person({ as: ann, with: ann, kind: "siem" });
    const elsewhere = await rig.person({ as: ann, kind: "siem" });
    const opens = async ({ v2 }: Person) =>
      (await v2("enterprise.compliance.export.detail", {})).body.error?.code;
    // The call is admitted, and the answer names the missing argument.
    const before = await opens(siem);
    expect(before).toBe("invalid_argument");
    expect(await transfer(ann, teamUserId)).toBe("let in");
    expect(await opens(siem)).toBe(before);
    const idsOf = async (who: Person) => (await keysOf(who).listApiKeys({})).data.map(({ id }) => id);
    expect(await idsOf(ann)).toEqual([ann.keyId]);
    expect((await idsOf(bo)).toSorted()).toEqual([bo.keyId, siem.keyId].toSorted());
    expect(await outcomeOf(keysOf(ann).revokeApiKey({ id: siem.keyId }))).toBe("NotFound: API key not found");
    const keyInput = { name: "next", kind: ApiKeyKind.SIEM };
    expect(await outcomeOf((await ann.session()).client(ApiKeyService).createApiKey(keyInput))).toMatch(
      /^PermissionDenied: /,
    );
    await keysOf(bo).revokeApiKey({ id: siem.keyId });
    expect(await opens(siem)).toBe("permission_denied");
    expect(await opens(elsewhere)).toBe("invalid_argument");
  });
});
