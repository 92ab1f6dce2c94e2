import { Code } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { describeOnEach } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { bring, makeOfficial, ofApp, ofProject, ofTeam, refusalOf } from "./skills-rig.ts";

describeOnEach("the enabled skills of a person", (database) => {
  const rig = taskRig({ database });
  let owner: Person;
  let member: Person;
  beforeEach(async () => {
    owner = await rig.service.person();
    member = await rig.service.person({ with: owner, role: "member" });
  });

  const skillsOf = (who: Person) => who.client(SkillService);
  const turn = async (who: Person, id: string, enabled: boolean, forEveryone = false) =>
    (await skillsOf(who).updateSkill({ id, enabled, forEveryone })).skill?.enabled;
  /** Whether ListSkills shows it as enabled; undefined when it does not show it. */
  const shown = async (who: Person, id: string, more: object = {}) =>
    (await skillsOf(who).listSkills(more)).data.find((skill) => skill.id === id)?.enabled;
  /** The skills that a new task of the person's has, of those that are named here. */
  async function atHand(who: Pick<Person, "v2">, names: readonly string[], more: object = {}): Promise<string[]> {
    const { body } = await who.v2("task.create", { message: { content: "Say hello" }, ...more });
    await rig.reach(body["task_id"], "stopped");
    const events = await rig.service.store.events.list(body["task_id"], { order: "asc", limit: 100, verbose: false });
    const said = events.flatMap((event) => (event.type === "assistant_message" ? [event.payload.content] : [])).join();
    return names.filter((name) => said.includes(name));
  }
  const rowOf = async (id: string) => (await rig.service.store.skills.byId(id))?.enabled;

  test("leave out a team's or an official one that they switched off, for themselves alone, until they switch it on again", async () => {
    const team = await bring(owner, "Team minutes", ofTeam);
    const official = await makeOfficial(rig.service, "Official tea");
    const both = ["Team minutes", "Official tea"];
    for (const { id } of [team, official]) expect(await turn(member, id, false)).toBe(false);
    expect(await Promise.all([team, official].map(({ id }) => shown(member, id)))).toEqual([false, false]);
    expect(await atHand(member, both)).toEqual([]);
    expect(await Promise.all([team, official].map(({ id }) => shown(owner, id)))).toEqual([true, true]);
    expect(await atHand(owner, both)).toEqual(both);
    for (const { id } of [team, official]) expect(await turn(member, id, true)).toBe(true);
    expect(await atHand(member, both)).toEqual(both);
    expect(await rowOf(official.id)).toBe(true);
  });

  test("are those of one space: the same person's other spaces choose for themselves", async () => {
    const { id } = await makeOfficial(rig.service, "Official coffee");
    const elsewhere = await rig.service.person({ as: owner });
    await turn(owner, id, false);
    expect([await shown(owner, id), await shown(elsewhere, id)]).toEqual([false, true]);
  });

  test("are switched for whoever has not chosen by those who may change the team's skills, and by nobody else", async () => {
    const { id } = await bring(owner, "Rota", ofTeam);
    const chooser = await rig.service.person({ with: owner, role: "member" });
    await turn(chooser, id, true);
    expect(await refusalOf(turn(member, id, false, true))).toMatch(new RegExp(`^${Code.PermissionDenied} `));
    expect(await shown(member, id)).toBe(true);
    await turn(owner, id, false, true);
    expect([await shown(owner, id), await shown(member, id), await shown(chooser, id)]).toEqual([false, false, true]);
    const official = await makeOfficial(rig.service, "Official rota");
    expect(await refusalOf(turn(owner, official.id, false, true))).toMatch(new RegExp(`^${Code.PermissionDenied} official skills`));
  });

  test("have a personal and a project's one as it was switched where it stands, and an app's as whoever changes the app says", async () => {
    const projectId = (await owner.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const app = await newApp(rig.service, owner);
    const [mine, inProject, ofAnApp] = [
      await bring(owner, "Mine"),
      await bring(owner, "Weeding", ofProject(projectId)),
      await bring(owner, "Private", ofApp(app.app.clientId)),
    ];
    const token = await tokenOf(rig.service, member, { of: app, scopes: ["manage_all_tasks"] });
    expect(await atHand(token, ["Private"])).toEqual(["Private"]);
    for (const { id } of [mine, inProject, ofAnApp]) {
      expect(await refusalOf(turn(member, id, false))).not.toBe("nothing was refused");
      await turn(owner, id, false);
      expect(await rowOf(id)).toBe(false);
    }
    expect(await atHand(owner, ["Mine", "Weeding"], { project_id: projectId })).toEqual([]);
    expect(await atHand(token, ["Private"])).toEqual([]);
  });

  test("cannot be chosen among what they do not have: another team's, another's own, a deleted one, an unknown id", async () => {
    const stranger = await rig.service.person();
    const foreign = await bring(stranger, "Foreign", ofTeam);
    const own = await bring(owner, "Own");
    const gone = await bring(owner, "Gone", ofTeam);
    await skillsOf(owner).deleteSkill({ id: gone.id });
    for (const id of [foreign.id, own.id, gone.id, "unknown"])
      for (const forEveryone of [false, true])
        expect(await refusalOf(turn(member, id, false, forEveryone))).toBe(`${Code.NotFound} skill not found`);
    expect([await rowOf(foreign.id), await rowOf(own.id)]).toEqual([true, true]);
  });

  test("name one that is switched off all the same where a message enables or forces it (v2.md 9.10)", async () => {
    const { id } = await bring(owner, "Team minutes", ofTeam);
    await turn(member, id, false);
    for (const more of [{ enable_skills: [id] }, { force_skills: [id] }])
      expect(await atHand(member, ["Team minutes"], { message: { content: "Say hello", ...more } })).toEqual(["Team minutes"]);
  });

  test("are told to the audit log with what they were and are, and for whom", async () => {
    const { id } = await bring(owner, "Team minutes", ofTeam);
    await turn(member, id, false);
    await turn(owner, id, false, true);
    const { body } = await owner.v2("audit.list", { operation: "settings.v1.SkillService/UpdateSkill" });
    expect(body["data"]).toMatchObject([
      { subject: id, before: { enabled: true }, after: { enabled: false, forEveryone: true } },
      { subject: id, before: { enabled: true }, after: { enabled: false, forEveryone: false } },
    ]);
  });
});
