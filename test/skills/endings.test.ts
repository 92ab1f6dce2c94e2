import { expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { type Member, type Team, teamsRig } from "../teams/teams-rig.ts";
import { createOfficialSkill, createSkill, listSkillNames, ofApp, ofProject, ofTeam } from "./skills-rig.ts";

describeOnOne("skills of owners that end", (database) => {
  const rig = teamsRig(database);

  const blobOf = async (id: string) =>
    (await rowsIn(rig.db.url, `SELECT blob_id FROM skill WHERE id = '${id}'`))[0]?.["blob_id"];
  /** Whether a skill exists and its bytes are kept, from two sources. */
  const isThere = async (id: string) => {
    const [blob] = await rowsIn(rig.db.url, `SELECT state FROM blob WHERE id = '${await blobOf(id)}'`);
    return [(await rig.service.store.skills.byId(id)) !== null, blob?.["state"] === "kept"];
  };
  const [existing, gone] = [
    [true, true],
    [false, false],
  ];
  const choices = ({ accountId, spaceId }: Person) =>
    rowsIn(
      rig.db.url,
      `SELECT skill_id FROM skill_choice WHERE account_id = '${accountId}' AND space_id = '${spaceId}'`,
    );
  const used = (person: Person) => rig.service.store.blobs.usedBytes(person.accountId);

  /** A member with a skill of each kind that a person can create, and one of the team's disabled. */
  async function memberWithSkills(
    team: Team,
  ): Promise<{ member: Member; own: string; shared: readonly string[] }> {
    const member = await rig.member(team, "admin");
    const projectId = (await member.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const { app } = await newApp(rig.service, team.owner);
    const own = (await createSkill(member, `own ${member.id}`)).id;
    const shared = [ofTeam, ofProject(projectId), ofApp(app.clientId)].map(
      async (more, i) => (await createSkill(member, `${i} ${member.id}`, more)).id,
    );
    const ids = await Promise.all(shared);
    await member.client(SkillService).updateSkill({ id: ids[0] ?? "", enabled: false });
    return { member, own, shared: ids };
  }

  test("of a removed member are deleted with their bytes and choices; the member's shared skills stay (spec/decisions.md 5)", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await memberWithSkills(team), await memberWithSkills(team)];
    expect(await choices(lea.member)).toHaveLength(1);
    await rig.ok(team, "remove", { team_user_id: lea.member.id });
    expect(await isThere(lea.own)).toEqual(gone);
    expect(await choices(lea.member)).toEqual([]);
    for (const id of [...lea.shared, ivo.own, ...ivo.shared]) expect(await isThere(id)).toEqual(existing);
    expect(await choices(ivo.member)).toHaveLength(1);
    expect(await listSkillNames(team.owner)).toEqual(
      expect.arrayContaining([`0 ${lea.member.id}`, `0 ${ivo.member.id}`]),
    );
  });

  test("are deleted with the account and leave its quota, while the same person's in another space stay", async () => {
    const [team, other] = [await rig.team(), await rig.team()];
    const lea = await rig.member(team);
    const { team_user_id: id } = await rig.add(other, { email: lea.email });
    const self = { accountId: lea.accountId, spaceId: other.owner.spaceId };
    const elsewhere = await rig.person({ as: self, with: self });
    const [here, there_] = [await createSkill(lea, "here"), await createSkill(elsewhere, "there")];
    await rig.ok(team, "remove", { team_user_id: lea.id });
    expect([await isThere(here.id), await isThere(there_.id)]).toEqual([gone, existing]);
    expect(await used(lea)).toBe(Number(there_.bytes));
    await rig.ok(other, "remove", { team_user_id: id });
    expect(await isThere(there_.id)).toEqual(gone);
    expect(await rowsIn(rig.db.url, `SELECT id FROM account WHERE id = '${lea.accountId}'`)).toEqual([]);
    expect(await used(lea)).toBe(0);
  });

  test("stay for a deactivated or delegated member and are all there after reactivation (spec/decisions.md 6)", async () => {
    const team = await rig.team();
    const holder = await rig.member(team);
    const { member, own } = await memberWithSkills(team);
    await rig.delegateProfile(team, member.id, holder.id);
    expect([await isThere(own), (await choices(member)).length]).toEqual([existing, 1]);
    expect(await listSkillNames(holder)).not.toContain(`own ${member.id}`);
    await rig.ok(team, "reclaim", { team_user_id: member.id });
    await rig.ok(team, "update", { team_user_id: member.id, status: "USER_STATUS_ACTIVE" });
    const self = { accountId: member.accountId, spaceId: member.spaceId };
    expect(await listSkillNames(await rig.person({ as: self, with: self }))).toContain(`own ${member.id}`);
  });

  test("private to an app are deleted with it, also those outside its settings, and no other app's", async () => {
    const owner = await rig.person();
    const [one, other] = [await newApp(rig.service, owner), await newApp(rig.service, owner)];
    const { clientId } = one.app;
    const [named, unnamed] = [
      await createSkill(owner, "named", ofApp(clientId)),
      await createSkill(owner, "unnamed", ofApp(clientId)),
    ];
    const kept = await createSkill(owner, "kept", ofApp(other.app.clientId));
    const apps = owner.client(OAuth2AppService);
    const token = await tokenOf(rig.service, owner, { of: other, scopes: ["manage_all_tasks"] });
    await apps.updateOAuth2App({ clientId, skillIds: [named.id], updateMask: { paths: ["skill_ids"] } });
    await apps.deleteOAuth2App({ clientId });
    expect(await Promise.all([named, unnamed, kept].map(({ id }) => isThere(id)))).toEqual([
      gone,
      gone,
      existing,
    ]);
    expect(await listSkillNames(token)).toEqual(["kept"]);
  });

  test("are deleted together with all choices about them", async () => {
    const team = await rig.team();
    const member = await rig.member(team);
    const skill = await createSkill(team.owner, "short-lived", ofTeam);
    const official = await createOfficialSkill(rig.service, "official");
    for (const { id } of [skill, official])
      await member.client(SkillService).updateSkill({ id, enabled: false });
    await team.owner.client(SkillService).deleteSkill({ id: skill.id });
    expect(await choices(member)).toEqual([{ skill_id: official.id }]);
    // Including a choice made during the deletion.
    for (let round = 0; round < 5; round += 1) {
      const { id } = await createSkill(team.owner, `contested ${round}`, ofTeam);
      const chosen = Array.from({ length: 4 }, () =>
        member.client(SkillService).updateSkill({ id, enabled: false }),
      );
      await Promise.allSettled([...chosen, team.owner.client(SkillService).deleteSkill({ id }), ...chosen]);
    }
    expect(await choices(member)).toEqual([{ skill_id: official.id }]);
  });
});
