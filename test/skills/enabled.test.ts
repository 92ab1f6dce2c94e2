import { Code } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { createOfficialSkill, createSkill, ofApp, ofProject, ofTeam, refusalOf } from "./skills-rig.ts";

describeOnOne("the enabled skills of a person", (database) => {
  const rig = taskRig({ database });
  let owner: Person;
  let member: Person;
  beforeEach(async () => {
    owner = await rig.service.person();
    member = await rig.service.person({ with: owner, role: "member" });
  });

  const skillsOf = (person: Person) => person.client(SkillService);
  const setEnabled = async (person: Person, id: string, enabled: boolean, forEveryone = false) =>
    (await skillsOf(person).updateSkill({ id, enabled, forEveryone })).skill?.enabled;
  /** Whether ListSkills shows it as enabled; undefined when it is not listed. */
  const isEnabled = async (person: Person, id: string, more: object = {}) =>
    (await skillsOf(person).listSkills(more)).data.find((skill) => skill.id === id)?.enabled;
  /** The named skills that a new task of the person has. */
  async function enabledInTask(
    person: Pick<Person, "v2">,
    names: readonly string[],
    more: object = {},
  ): Promise<string[]> {
    const { body } = await person.v2("task.create", { message: { content: "Say hello" }, ...more });
    await rig.reach(body["task_id"], "stopped");
    const events = await rig.service.store.events.list(body["task_id"], {
      order: "asc",
      limit: 100,
      verbose: false,
    });
    const answer = events
      .flatMap((event) => (event.type === "assistant_message" ? [event.payload.content] : []))
      .join();
    return names.filter((name) => answer.includes(name));
  }
  const rowOf = async (id: string) => (await rig.service.store.skills.byId(id))?.enabled;

  test("leave out a team's or an official one that they disabled, only for themselves, until they enable it again", async () => {
    const team = await createSkill(owner, "Team minutes", ofTeam);
    const official = await createOfficialSkill(rig.service, "Official tea");
    const both = ["Team minutes", "Official tea"];
    for (const { id } of [team, official]) expect(await setEnabled(member, id, false)).toBe(false);
    expect(await Promise.all([team, official].map(({ id }) => isEnabled(member, id)))).toEqual([
      false,
      false,
    ]);
    expect(await enabledInTask(member, both)).toEqual([]);
    expect(await Promise.all([team, official].map(({ id }) => isEnabled(owner, id)))).toEqual([true, true]);
    expect(await enabledInTask(owner, both)).toEqual(both);
    for (const { id } of [team, official]) expect(await setEnabled(member, id, true)).toBe(true);
    expect(await enabledInTask(member, both)).toEqual(both);
    expect(await rowOf(official.id)).toBe(true);
  });

  test("are chosen per space, separately for each space of a person", async () => {
    const { id } = await createOfficialSkill(rig.service, "Official coffee");
    const elsewhere = await rig.service.person({ as: owner });
    await setEnabled(owner, id, false);
    expect([await isEnabled(owner, id), await isEnabled(elsewhere, id)]).toEqual([false, true]);
  });

  test("follow the team's default for members without a choice; only managers of the team's skills set it", async () => {
    const { id } = await createSkill(owner, "Rota", ofTeam);
    const chooser = await rig.service.person({ with: owner, role: "member" });
    await setEnabled(chooser, id, true);
    expect(await refusalOf(setEnabled(member, id, false, true))).toMatch(
      new RegExp(`^${Code.PermissionDenied} `),
    );
    expect(await isEnabled(member, id)).toBe(true);
    await setEnabled(owner, id, false, true);
    expect([await isEnabled(owner, id), await isEnabled(member, id), await isEnabled(chooser, id)]).toEqual([
      false,
      false,
      true,
    ]);
    const official = await createOfficialSkill(rig.service, "Official rota");
    expect(await refusalOf(setEnabled(owner, official.id, false, true))).toMatch(
      new RegExp(`^${Code.PermissionDenied} official skills`),
    );
  });

  test("follow the owner's switch for personal and project skills, and the app manager's for an app's", async () => {
    const projectId = (await owner.v2("project.create", { name: "Garden" })).body["project"].id as string;
    const app = await newApp(rig.service, owner);
    const [mine, inProject, ofAnApp] = [
      await createSkill(owner, "Mine"),
      await createSkill(owner, "Weeding", ofProject(projectId)),
      await createSkill(owner, "Private", ofApp(app.app.clientId)),
    ];
    const token = await tokenOf(rig.service, member, { of: app, scopes: ["manage_all_tasks"] });
    expect(await enabledInTask(token, ["Private"])).toEqual(["Private"]);
    for (const { id } of [mine, inProject, ofAnApp]) {
      expect(await refusalOf(setEnabled(member, id, false))).not.toBe("nothing was refused");
      await setEnabled(owner, id, false);
      expect(await rowOf(id)).toBe(false);
    }
    expect(await enabledInTask(owner, ["Mine", "Weeding"], { project_id: projectId })).toEqual([]);
    expect(await enabledInTask(token, ["Private"])).toEqual([]);
  });

  test("cannot be chosen from outside their list: another team's, another person's, a deleted one, an unknown id", async () => {
    const outsider = await rig.service.person();
    const foreign = await createSkill(outsider, "Foreign", ofTeam);
    const own = await createSkill(owner, "Own");
    const gone = await createSkill(owner, "Gone", ofTeam);
    await skillsOf(owner).deleteSkill({ id: gone.id });
    for (const id of [foreign.id, own.id, gone.id, "unknown"])
      for (const forEveryone of [false, true])
        expect(await refusalOf(setEnabled(member, id, false, forEveryone))).toBe(
          `${Code.NotFound} skill not found`,
        );
    expect([await rowOf(foreign.id), await rowOf(own.id)]).toEqual([true, true]);
  });

  test("include a disabled one where a message enables or forces it (spec/api.md 9.10)", async () => {
    const { id } = await createSkill(owner, "Team minutes", ofTeam);
    await setEnabled(member, id, false);
    for (const more of [{ enable_skills: [id] }, { force_skills: [id] }])
      expect(
        await enabledInTask(member, ["Team minutes"], { message: { content: "Say hello", ...more } }),
      ).toEqual(["Team minutes"]);
  });

  test("appear in the audit log with their old and new state and the person concerned", async () => {
    const { id } = await createSkill(owner, "Team minutes", ofTeam);
    await setEnabled(member, id, false);
    await setEnabled(owner, id, false, true);
    const { body } = await owner.v2("audit.list", { operation: "settings.v1.SkillService/UpdateSkill" });
    expect(body["data"]).toMatchObject([
      { subject: id, before: { enabled: true }, after: { enabled: false, forEveryone: true } },
      { subject: id, before: { enabled: true }, after: { enabled: false, forEveryone: false } },
    ]);
  });
});
