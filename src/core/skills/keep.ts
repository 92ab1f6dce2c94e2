import { Readable } from "node:stream";
import { absent, Failure } from "../failure.ts";
import type { Staged, Staging } from "../files/staging.ts";
import { givenUp } from "../files/writer.ts";
import type { Tx } from "../store.ts";
import type { PackedSkill } from "./pack.ts";
import { type Skill, type SkillShelf, type SkillView, skillsMax } from "./skill.ts";
import { archiveBytesMax } from "./unzip.ts";

/** A skill whose bytes are in the storage, until a change keeps it. */
export interface StagedSkill extends Pick<PackedSkill, "name" | "description"> {
  readonly staged: Staged;
}

/**
 * Writes a packed skill down.
 *
 * @param accountId whose quota it counts toward; null for the operator's.
 */
export async function stageSkill(
  staging: Pick<Staging, "stage">,
  { name, description, zip }: PackedSkill,
  { accountId, signal }: { readonly accountId: string | null; readonly signal: AbortSignal },
): Promise<StagedSkill> {
  // Repacking may take a little more than what came.
  const staged = await staging.stage(Readable.from([zip]), { accountId, max: 2 * archiveBytesMax, signal });
  return { name, description, staged };
}

/** What stands on a shelf under a name already, and how full it is. @throws Failure `exhausted` */
async function roomOn(tx: Pick<Tx, "skills">, shelf: SkillShelf, name: string): Promise<SkillView | undefined> {
  const present = await tx.skills.onShelf(shelf);
  const same = present.find((skill) => skill.name === name);
  const max = skillsMax[shelf.ownerType];
  if (!same && present.length >= max) throw new Failure("exhausted", `there are at most ${max} skills of the type ${shelf.ownerType}`);
  return same;
}

/** @throws Failure `exists` for a name that is there, `exhausted` when there is no room. */
export async function checkNew(tx: Pick<Tx, "skills">, shelf: SkillShelf, name: string): Promise<void> {
  if (await roomOn(tx, shelf, name)) throw new Failure("exists", `there is a skill ${JSON.stringify(name)} already`);
}

/** Keeps what is staged as a new skill. @throws Failure `exists` for a name that is there, `exhausted` when there is no room. */
export async function keepNew(
  tx: Tx,
  shelf: SkillShelf,
  staged: StagedSkill,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Skill> {
  await checkNew(tx, shelf, staged.name);
  const skill: Skill = { ...shelf, ...(await kept(tx, staged)), id, name: staged.name, enabled: true, createdAt: now, updatedAt: now };
  await tx.skills.insert(skill);
  return skill;
}

/** As `keepNew`, but takes the place of the content of what has this name. */
export async function keepOrReplace(
  tx: Tx,
  shelf: SkillShelf,
  staged: StagedSkill,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Skill> {
  const present = await roomOn(tx, shelf, staged.name);
  if (!present) return keepNew(tx, shelf, staged, { id, now });
  const content = { ...(await kept(tx, staged)), updatedAt: now };
  // It was deleted a moment ago: then nothing of this change is kept either.
  if (!(await tx.skills.replace(present.id, content))) throw absent("skill");
  await tx.blobs.drop([present.blobId]);
  return { ...present, ...content };
}

async function kept(tx: Tx, { description, staged: { blobId, bytes, sha256 } }: StagedSkill) {
  if (!(await tx.blobs.keep(blobId))) throw givenUp();
  return { description, blobId, bytes, sha256 };
}

/** Skills are gone with their bytes; answers how many were there. */
export async function dropSkills(tx: Tx, skills: readonly Pick<Skill, "id">[], now: number): Promise<number> {
  if (skills.length === 0) return 0;
  const blobs = await tx.skills.remove(
    skills.map(({ id }) => id),
    now,
  );
  await tx.blobs.drop(blobs);
  return blobs.length;
}

/** For the audit log. */
export const auditOfSkill = ({ name, ownerType, projectId, clientId, bytes, sha256 }: Skill) => ({
  ...{ name, ownerType, bytes, sha256 },
  ...(projectId === null ? {} : { projectId }),
  ...(clientId === null ? {} : { clientId }),
});
