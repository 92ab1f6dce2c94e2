import { systemIds } from "../../src/core/ids.ts";
import { type Skill, SkillOwnerType } from "../../src/gen/proto/settings/v1/skill_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import type { Calling, Service } from "../support/service.ts";

/** Brings a skill; personal unless told otherwise. */
export async function bring(who: Calling, name: string, more: object = {}): Promise<Skill> {
  const { skill } = await who.client(SkillService).createSkill({ archive: Uint8Array.from(skillZip(name)), ...more });
  if (!skill) throw new Error("no skill");
  return skill;
}

/** An official skill, as the operator's command keeps it: with the bytes of one that somebody brought. */
export async function makeOfficial(service: Service, name: string): Promise<{ readonly id: string }> {
  const { id } = await bring(await service.person(), name);
  return service.store.change(async (tx) => {
    const brought = await tx.skills.byId(id);
    if (!brought) throw new Error("no skill");
    const { creatorName: _, ...skill } = brought;
    const official = { ...skill, id: systemIds.short(), ownerType: "official", spaceId: null, accountId: null } as const;
    await tx.skills.insert(official);
    return { id: official.id };
  });
}

export const ofTeam = { ownerType: SkillOwnerType.TEAM };
export const ofProject = (projectId: string) => ({ ownerType: SkillOwnerType.PROJECT, projectId });
export const ofApp = (clientId: string) => ({ ownerType: SkillOwnerType.APP, clientId });

/** The names that skill.list shows, in order of the alphabet. */
export async function listed(who: Calling, query: object = {}): Promise<string[]> {
  const { body } = await who.v2("skill.list", query);
  if (!body.ok) throw new Error(JSON.stringify(body));
  return body["data"].map(({ name }: { name: string }) => name).toSorted();
}

/** How a promise was refused: `Code: message`. */
export const refusalOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "nothing was refused",
    (thrown: { readonly code: number; readonly rawMessage: string }) => `${thrown.code} ${thrown.rawMessage}`,
  );
