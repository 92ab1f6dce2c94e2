import { describe, expect, test } from "vitest";
import { hashPassword } from "../../src/core/sign-in/password-hash.ts";
import { ApiKeyKind } from "../../src/gen/proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { keysOf, refusalOf, settingsRig } from "./settings-rig.ts";

const minute = 60_000;

describeOnEach("a team's ownership", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock });

  const memberOf = async ({ accountId, spaceId }: Person) => {
    const member = await rig.service.store.accounts.member(`team-${spaceId}`, accountId);
    if (!member) throw new Error("no member");
    return member;
  };
  const rolesIn = async (...people: Person[]) => (await Promise.all(people.map(memberOf))).map(({ role }) => role);
  const owners = async ({ spaceId }: Person) =>
    (await rowsIn(rig.db.url, `SELECT account_id FROM membership WHERE space_id = '${spaceId}' AND role = 'owner'`)).map(
      (row) => row["account_id"],
    );
  const team = async (role: "super_admin" | "admin" | "member" | "guest" = "admin") => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann, role });
    return { ann, bo, teamUserId: (await memberOf(bo)).id };
  };
  const give = async (who: Person, teamUserId: string, { provedAt = clock.now(), password = "" } = {}) =>
    refusalOf((await who.session({ provedAt })).client(TeamService).transferOwnership({ teamUserId, password }));

  test.each(["super_admin", "admin"] as const)("moves to an active %s, and the old owner is a super admin", async (role) => {
    const { ann, bo, teamUserId } = await team(role);
    expect(await give(ann, teamUserId)).toBe("let in");
    expect(await rolesIn(ann, bo)).toEqual(["super_admin", "owner"]);
    expect(await owners(ann)).toEqual([bo.accountId]);
    expect(await rig.audited("settings.v1.TeamService/TransferOwnership", teamUserId)).toMatchObject({ account_id: ann.accountId });
    expect(await give(ann, teamUserId)).toMatch(/^PermissionDenied: /);
    expect(await give(bo, (await memberOf(ann)).id)).toBe("let in");
    expect(await rolesIn(ann, bo)).toEqual(["owner", "super_admin"]);
  });

  test("stays where the heir is no active super admin or admin", async () => {
    for (const role of ["member", "guest"] as const) {
      const { ann, teamUserId } = await team(role);
      expect(await give(ann, teamUserId)).toBe("FailedPrecondition: the new owner must be an active super admin or admin of the team");
      expect(await rolesIn(ann)).toEqual(["owner"]);
    }
    const { ann, bo, teamUserId } = await team();
    expect(await give(ann, (await memberOf(ann)).id)).toMatch(/^FailedPrecondition: /);
    await directly(rig.db, `UPDATE membership SET status = 'inactive' WHERE id = '${teamUserId}'`);
    expect(await give(ann, teamUserId)).toMatch(/^FailedPrecondition: /);
    await directly(rig.db, `UPDATE membership SET status = 'removed' WHERE id = '${teamUserId}'`);
    expect(await give(ann, teamUserId)).toBe("NotFound: member not found");
    const stranger = await team();
    expect(await give(ann, stranger.teamUserId)).toBe("NotFound: member not found");
    expect(await give(ann, bo.accountId)).toBe("NotFound: member not found");
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  test("is the owner's alone to give, by a session and by no key", async () => {
    const { ann, teamUserId } = await team();
    for (const role of ["super_admin", "admin", "member", "guest"] as const) {
      expect(await give(await rig.person({ with: ann, role }), teamUserId)).toMatch(/^PermissionDenied: /);
    }
    expect(await refusalOf(ann.client(TeamService).transferOwnership({ teamUserId }))).toMatch(/^PermissionDenied: /);
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  describe("wants a proof anew (decisions.md 7)", () => {
    test("that is five minutes old at most, where no password is given", async () => {
      const { ann, bo, teamUserId } = await team();
      expect(await give(ann, teamUserId, { provedAt: clock.now() - 5 * minute - 1 })).toMatch(
        /^FailedPrecondition: prove who you are again/,
      );
      expect(await owners(ann)).toEqual([ann.accountId]);
      expect(await give(ann, teamUserId, { provedAt: clock.now() - 5 * minute })).toBe("let in");
      expect(await owners(ann)).toEqual([bo.accountId]);
    });

    test("or the password, which counts however old the session, and a wrong one however young", async () => {
      const { ann, bo, teamUserId } = await team();
      const stored = await hashPassword("correct horse battery");
      await rig.service.store.change((tx) => tx.signIns.setPassword(ann.accountId, stored));
      expect(await give(ann, teamUserId, { password: "wrong horse battery" })).toBe("PermissionDenied: password: is wrong");
      expect(await owners(ann)).toEqual([ann.accountId]);
      const old = clock.now() - 29 * 24 * 60 * minute;
      expect(await give(ann, teamUserId, { provedAt: old, password: "correct horse battery" })).toBe("let in");
      expect(await owners(ann)).toEqual([bo.accountId]);
      expect(await give(bo, (await memberOf(ann)).id, { password: "correct horse battery" })).toBe("PermissionDenied: password: is wrong");
    });
  });

  test("is not given by guessing: the 11th password of a minute is not looked at, over all nodes", async () => {
    const { ann, teamUserId } = await team();
    const tried = [];
    for (let i = 1; i <= 11; i += 1) tried.push(await give(ann, teamUserId, { password: "wrong horse battery" }));
    expect(tried.slice(0, 10)).toEqual(Array<string>(10).fill("PermissionDenied: password: is wrong"));
    expect(tried[10]).toBe("ResourceExhausted: too many passwords tried");
    expect(await owners(ann)).toEqual([ann.accountId]);
  });

  test("moves once when two heirs are named at once", async () => {
    const { ann, bo, teamUserId } = await team();
    const carl = await rig.person({ with: ann, role: "admin" });
    const outcomes = await Promise.all([teamUserId, (await memberOf(carl)).id].map((id) => give(ann, id)));
    expect(outcomes.filter((outcome) => outcome === "let in")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome.startsWith("PermissionDenied: "))).toHaveLength(1);
    expect(await owners(ann)).toEqual([outcomes[0] === "let in" ? bo.accountId : carl.accountId]);
  });

  test("takes the enterprise keys along: they open what they opened, and are the new owner's to see and revoke", async () => {
    const { ann, bo, teamUserId } = await team();
    const siem = await rig.person({ as: ann, with: ann, kind: "siem" });
    const elsewhere = await rig.person({ as: ann, kind: "siem" });
    const opens = async ({ v2 }: Person) => (await v2("enterprise.compliance.export.detail", {})).body.error?.code;
    // Let in, and told what is missing.
    const before = await opens(siem);
    expect(before).toBe("invalid_argument");
    expect(await give(ann, teamUserId)).toBe("let in");
    expect(await opens(siem)).toBe(before);
    const idsOf = async (who: Person) => (await keysOf(who).listApiKeys({})).data.map(({ id }) => id);
    expect(await idsOf(ann)).toEqual([ann.keyId]);
    expect((await idsOf(bo)).toSorted()).toEqual([bo.keyId, siem.keyId].toSorted());
    expect(await refusalOf(keysOf(ann).revokeApiKey({ id: siem.keyId }))).toBe("NotFound: API key not found");
    const wanted = { name: "next", kind: ApiKeyKind.SIEM };
    expect(await refusalOf((await ann.session()).client(ApiKeyService).createApiKey(wanted))).toMatch(/^PermissionDenied: /);
    await keysOf(bo).revokeApiKey({ id: siem.keyId });
    expect(await opens(siem)).toBe("permission_denied");
    expect(await opens(elsewhere)).toBe("invalid_argument");
  });
});
