import { systemIds } from "../../src/core/ids.ts";
import { type Skill, SkillOwnerType } from "../../src/gen/proto/settings/v1/skill_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import type { Calling, Service } from "../support/service.ts";

/** Creates a skill, personal by default. */
export async function createSkill(person: Calling, name: string, more: object = {}): Promise<Skill> {
  const { skill } = await person
    .client(SkillService)
    .createSkill({ archive: Uint8Array.from(skillZip(name)), ...more });
  if (!skill) throw new Error("no skill");
  return skill;
}

/** Creates an official skill, as the operator's command does, with the bytes of another person's skill. */
export async function createOfficialSkill(service: Service, name: string): Promise<{ readonly id: string }> {
  const { id } = await createSkill(await service.person(), name);
  return service.store.change(async (tx) => {
    const personal = await tx.skills.byId(id);
    if (!personal) throw new Error("no skill");
    const { creatorName: _, ...skill } = personal;
    const official = {
      ...skill,
      id: systemIds.short(),
      ownerType: "official",
      spaceId: null,
      accountId: null,
    } as const;
    await tx.skills.insert(official);
    return { id: official.id };
  });
}

export const ofTeam = { ownerType: SkillOwnerType.TEAM };
export const ofProject = (projectId: string) => ({ ownerType: SkillOwnerType.PROJECT, projectId });
export const ofApp = (clientId: string) => ({ ownerType: SkillOwnerType.APP, clientId });

/** The names that skill.list returns, sorted. */
export async function listSkillNames(person: Calling, query: object = {}): Promise<string[]> {
  const { body } = await person.v2("skill.list", query);
  if (!body.ok) throw new Error(JSON.stringify(body));
  return body["data"].map(({ name }: { name: string }) => name).toSorted();
}

/** How a call was refused: `Code message`. */
export const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "nothing was refused",
    (thrown: { readonly code: number; readonly rawMessage: string }) => `${thrown.code} ${thrown.rawMessage}`,
  );
