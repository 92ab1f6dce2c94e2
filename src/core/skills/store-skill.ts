import { Readable } from "node:stream";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Staged, Staging } from "../files/staging.ts";
import { uploadAbandoned } from "../files/writer.ts";
import type { Tx } from "../store.ts";
import type { PackedSkill } from "./pack.ts";
import { type Skill, type SkillOwner, type SkillView, skillsMax } from "./skill.ts";
import { archiveBytesMax } from "./unzip.ts";

/** A skill whose bytes are in the storage. A change stores it, or the bytes are removed later. */
export interface StagedSkill extends Pick<PackedSkill, "name" | "description"> {
  readonly staged: Staged;
}

/**
 * Writes a packed skill to the storage.
 *
 * @param accountId the account whose quota it counts toward; null for the operator.
 */
export async function stageSkill(
  staging: Pick<Staging, "stage">,
  { name, description, zip }: PackedSkill,
  { accountId, signal }: { accountId: string | null; signal: AbortSignal },
): Promise<StagedSkill> {
  // The packed ZIP may be slightly larger than the received one.
  const staged = await staging.stage(Readable.from([zip]), { accountId, max: 2 * archiveBytesMax, signal });
  return { name, description, staged };
}

/**
 * The skill of this name in an owner's list, or undefined when one can be added. @throws Failure
 * `resource_exhausted` when the list is full.
 */
async function findSameName(
  tx: Pick<Tx, "skills">,
  owner: SkillOwner,
  name: string,
): Promise<SkillView | undefined> {
  const existing = await tx.skills.listOfOwner(owner);
  const same = existing.find((skill) => skill.name === name);
  const max = skillsMax[owner.ownerType];
  if (!same && existing.length >= max)
    throw new Failure("resource_exhausted", `there are at most ${max} skills of the type ${owner.ownerType}`);
  return same;
}

/** @throws Failure `already_exists` for a name in use, `resource_exhausted` when the list is full. */
export async function checkNewSkill(tx: Pick<Tx, "skills">, owner: SkillOwner, name: string): Promise<void> {
  if (await findSameName(tx, owner, name))
    throw new Failure("already_exists", `a skill ${JSON.stringify(name)} exists already`);
}

/**
 * Stores a staged skill as a new one. @throws Failure `already_exists` for a name in use,
 * `resource_exhausted` when the list is full.
 */
export async function storeSkill(
  tx: Tx,
  owner: SkillOwner,
  staged: StagedSkill,
  { id, now }: { id: string; now: number },
): Promise<Skill> {
  await checkNewSkill(tx, owner, staged.name);
  const skill: Skill = {
    ...owner,
    ...(await keepStaged(tx, staged)),
    id,
    name: staged.name,
    enabled: true,
    createdAt: now,
    updatedAt: now,
  };
  await tx.skills.insert(skill);
  return skill;
}

/** As `storeSkill`, but replaces the content when the name is in use. */
export async function storeOrReplaceSkill(
  tx: Tx,
  owner: SkillOwner,
  staged: StagedSkill,
  { id, now }: { id: string; now: number },
): Promise<Skill> {
  const existing = await findSameName(tx, owner, staged.name);
  return existing ? replaceContent(tx, existing, staged, now) : storeSkill(tx, owner, staged, { id, now });
}

/**
 * Replaces the content of a skill and drops its bytes. @throws Failure `not_found` when the skill was deleted
 * concurrently.
 */
export async function replaceContent(tx: Tx, skill: Skill, staged: StagedSkill, now: number): Promise<Skill> {
  const content = { ...(await keepStaged(tx, staged)), updatedAt: now };
  // The failure rolls back this change too.
  if (!(await tx.skills.replace(skill.id, content))) throw notFound("skill");
  await tx.blobs.drop([skill.blobId]);
  return { ...skill, ...content };
}

/**
 * Refuses a new content under another name: names are unique in a list, and messages of agents name the
 * skill.
 *
 * @param at the field that the content came in.
 * @throws Failure `invalid_argument`
 */
export function checkSameName(
  at: string,
  { name }: Pick<Skill, "name">,
  packed: Pick<PackedSkill, "name">,
): void {
  if (packed.name === name) return;
  const [given, kept] = [packed.name, name].map((each) => JSON.stringify(each));
  throw invalidArgument(
    at,
    `its SKILL.md has the name ${given}, but the skill is ${kept}: set the name to ${kept}, or add a new skill`,
  );
}

async function keepStaged(tx: Tx, { description, staged: { blobId, bytes, sha256 } }: StagedSkill) {
  if (!(await tx.blobs.keep(blobId))) throw uploadAbandoned();
  return { description, blobId, bytes, sha256 };
}

/** Deletes skills and their bytes; returns how many existed. */
export async function deleteSkills(
  tx: Tx,
  skills: readonly Pick<Skill, "id">[],
  now: number,
): Promise<number> {
  if (skills.length === 0) return 0;
  const blobs = await tx.skills.remove(
    skills.map(({ id }) => id),
    now,
  );
  await tx.blobs.drop(blobs);
  return blobs.length;
}

export const skillAuditFacts = ({ name, ownerType, projectId, clientId, bytes, sha256 }: Skill) => ({
  name,
  ownerType,
  bytes,
  sha256,
  ...(projectId === null ? {} : { projectId }),
  ...(clientId === null ? {} : { clientId }),
});
