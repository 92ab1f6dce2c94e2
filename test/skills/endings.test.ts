import { expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { type Member, type Team, teamsRig } from "../teams/teams-rig.ts";
import { bring, listed, makeOfficial, ofApp, ofProject, ofTeam } from "./skills-rig.ts";

describeOnEach("skills of what has ended", (database) => {
  const rig = teamsRig(database);

  const blobOf = async (id: string) => (await rowsIn(rig.db.url, `SELECT blob_id FROM skill WHERE id = '${id}'`))[0]?.["blob_id"];
  /** Whether a skill and its bytes are there, as every reader asks. */
  const isThere = async (id: string) => {
    const [blob] = await rowsIn(rig.db.url, `SELECT state FROM blob WHERE id = '${await blobOf(id)}'`);
    return [(await rig.service.store.skills.byId(id)) !== null, blob?.["state"] === "kept"];
  };
  const [there, gone] = [
    [true, true],
    [false, false],
  ];
  const choices = ({ accountId, spaceId }: Person) =>
    rowsIn(rig.db.url, `SELECT skill_id FROM skill_choice WHERE account_id = '${accountId}' AND space_id = '${spaceId}'`);
  const used = (person: Person) => rig.service.store.blobs.used(person.accountId);

  /** A member with a skill of each kind that a person can bring, and one of the team's switched off. */
  async function equipped(team: Team): Promise<{ member: Member; own: string; shared: readonly string[] }> {
    const member = await rig.member(team, "admin");
    const projectId = (await member.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const { app } = await newApp(rig.service, team.owner);
    const own = (await bring(member, `own ${member.id}`)).id;
    const shared = [ofTeam, ofProject(projectId), ofApp(app.clientId)].map(
      async (more, i) => (await bring(member, `${i} ${member.id}`, more)).id,
    );
    const ids = await Promise.all(shared);
    await member.client(SkillService).updateSkill({ id: ids[0] ?? "", enabled: false });
    return { member, own, shared: ids };
  }

  test("are a removed member's own ones, with their bytes and what the member chose; what others have of the member stays (decisions.md 5)", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await equipped(team), await equipped(team)];
    expect(await choices(lea.member)).toHaveLength(1);
    await rig.ok(team, "remove", { team_user_id: lea.member.id });
    expect(await isThere(lea.own)).toEqual(gone);
    expect(await choices(lea.member)).toEqual([]);
    for (const id of [...lea.shared, ivo.own, ...ivo.shared]) expect(await isThere(id)).toEqual(there);
    expect(await choices(ivo.member)).toHaveLength(1);
    expect(await listed(team.owner)).toEqual(expect.arrayContaining([`0 ${lea.member.id}`, `0 ${ivo.member.id}`]));
  });

  test("are gone with the account, which counts them no more, while the same person's of another space stay", async () => {
    const [team, other] = [await rig.team(), await rig.team()];
    const lea = await rig.member(team);
    const { team_user_id: id } = await rig.add(other, { email: lea.email });
    const self = { accountId: lea.accountId, spaceId: other.owner.spaceId };
    const elsewhere = await rig.person({ as: self, with: self });
    const [here, there_] = [await bring(lea, "here"), await bring(elsewhere, "there")];
    await rig.ok(team, "remove", { team_user_id: lea.id });
    expect([await isThere(here.id), await isThere(there_.id)]).toEqual([gone, there]);
    expect(await used(lea)).toBe(Number(there_.bytes));
    await rig.ok(other, "remove", { team_user_id: id });
    expect(await isThere(there_.id)).toEqual(gone);
    expect(await rowsIn(rig.db.url, `SELECT id FROM account WHERE id = '${lea.accountId}'`)).toEqual([]);
    expect(await used(lea)).toBe(0);
  });

  test("are none of a member who is deactivated or delegated: all of them are there again on reactivation (decisions.md 6)", async () => {
    const team = await rig.team();
    const holder = await rig.member(team);
    const { member, own } = await equipped(team);
    await rig.delegated(team, member.id, holder.id);
    expect([await isThere(own), (await choices(member)).length]).toEqual([there, 1]);
    expect(await listed(holder)).not.toContain(`own ${member.id}`);
    await rig.ok(team, "reclaim", { team_user_id: member.id });
    await rig.ok(team, "update", { team_user_id: member.id, status: "USER_STATUS_ACTIVE" });
    const self = { accountId: member.accountId, spaceId: member.spaceId };
    expect(await listed(await rig.person({ as: self, with: self }))).toContain(`own ${member.id}`);
  });

  test("are an app's private ones when it is deleted, those too that its settings did not name, and no other's", async () => {
    const owner = await rig.person();
    const [one, other] = [await newApp(rig.service, owner), await newApp(rig.service, owner)];
    const { clientId } = one.app;
    const [named, unnamed] = [await bring(owner, "named", ofApp(clientId)), await bring(owner, "unnamed", ofApp(clientId))];
    const kept = await bring(owner, "kept", ofApp(other.app.clientId));
    const apps = owner.client(OAuth2AppService);
    const token = await tokenOf(rig.service, owner, { of: other, scopes: ["manage_all_tasks"] });
    await apps.updateOAuth2App({ clientId, skillIds: [named.id], updateMask: { paths: ["skill_ids"] } });
    await apps.deleteOAuth2App({ clientId });
    expect(await Promise.all([named, unnamed, kept].map(({ id }) => isThere(id)))).toEqual([gone, gone, there]);
    expect(await listed(token)).toEqual(["kept"]);
  });

  test("take what everybody chose of them along", async () => {
    const team = await rig.team();
    const member = await rig.member(team);
    const skill = await bring(team.owner, "short-lived", ofTeam);
    const official = await makeOfficial(rig.service, "official");
    for (const { id } of [skill, official]) await member.client(SkillService).updateSkill({ id, enabled: false });
    await team.owner.client(SkillService).deleteSkill({ id: skill.id });
    expect(await choices(member)).toEqual([{ skill_id: official.id }]);
    // Also what is chosen while it is deleted.
    for (let round = 0; round < 5; round += 1) {
      const { id } = await bring(team.owner, `contested ${round}`, ofTeam);
      const chosen = Array.from({ length: 4 }, () => member.client(SkillService).updateSkill({ id, enabled: false }));
      await Promise.allSettled([...chosen, team.owner.client(SkillService).deleteSkill({ id }), ...chosen]);
    }
    expect(await choices(member)).toEqual([{ skill_id: official.id }]);
  });
});
