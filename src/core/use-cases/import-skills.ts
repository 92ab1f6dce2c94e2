import { constants } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { auditCommand } from "../audit/audit.ts";
import { invalidArgument, notFound } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { findRecipient, type Recipient } from "../keys/recipient.ts";
import {
  createReadLimits,
  fileBytesMax,
  isSystemFile,
  normalizeFiles,
  quotePath,
  type ReadLimits,
  type SkillFile,
} from "../skills/files.ts";
import { type PackedSkill, pack } from "../skills/pack.ts";
import type { Skill, SkillOwner } from "../skills/skill.ts";
import {
  deleteSkills,
  type StagedSkill,
  skillAuditFacts,
  storeOrReplaceSkill,
} from "../skills/store-skill.ts";
import { archiveBytesMax, unzip } from "../skills/unzip.ts";
import type { Tx } from "../store.ts";

/** Reads the files of a skill from a local folder. @throws Failure `invalid_argument` as for a ZIP. */
async function readFolder(at: string, folder: string): Promise<readonly SkillFile[]> {
  return normalizeFiles(at, await readLevel(at, folder, "", createReadLimits(at)));
}

async function readLevel(
  at: string,
  root: string,
  prefix: string,
  limits: ReadLimits,
): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  for (const entry of await readdir(join(root, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    if (entry.name === ".git" || isSystemFile(path)) continue;
    limits.countEntry();
    if (entry.isDirectory()) files.push(...(await readLevel(at, root, `${path}/`, limits)));
    else if (entry.isFile()) files.push({ path, bytes: await readOne(at, join(root, path), limits) });
    else throw invalidArgument(at, `${quotePath(path)} is a link, or not a regular file`);
  }
  return files;
}

async function readOne(at: string, path: string, limits: ReadLimits): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (size > fileBytesMax) throw invalidArgument(at, "a file of a skill has at most 20 MB");
    limits.countBytes(size, 0);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export type SkillTarget =
  | { readonly kind: "official" }
  /** The first team when no name is given. */
  | { readonly kind: "team"; readonly name: string | undefined }
  | { readonly kind: "project"; readonly id: string }
  | { readonly kind: "user"; readonly email: string };

const listedMax = 10_000;

/** Reads a skill from a local folder or ZIP. @throws Failure `invalid_argument` as for an uploaded one. */
export async function readSkill(path: string): Promise<PackedSkill> {
  const found = await stat(path);
  if (found.isDirectory()) return pack(path, await readFolder(path, path));
  if (found.size > archiveBytesMax) throw invalidArgument(path, "a ZIP of a skill has at most 50 MB");
  return pack(path, await unzip(path, await readFile(path)));
}

/**
 * Stores a skill, or replaces the one of the same name. @throws Failure `not_found` or `resource_exhausted`.
 */
export async function importSkill(
  tx: Tx,
  context: CreationContext,
  target: SkillTarget,
  staged: StagedSkill,
): Promise<Skill> {
  const { owner, audited } = await resolveTarget(tx, target);
  await tx.accounts.lockSpace(audited.spaceId);
  const skill = await storeOrReplaceSkill(tx, owner, staged, { id: context.ids.short(), now: context.now });
  tx.audit.note({ subject: skill.id, after: skillAuditFacts(skill) });
  await auditCommand(tx, context, audited, "settings.v1.SkillService/CreateSkill");
  return skill;
}

/** @throws Failure `not_found` */
export async function removeSkill(tx: Tx, context: CreationContext, id: string): Promise<void> {
  const skill = await tx.skills.byId(id);
  if (!skill) throw notFound("skill");
  if ((await deleteSkills(tx, [skill], context.now)) === 0) throw notFound("skill");
  tx.audit.note({ subject: id, before: skillAuditFacts(skill) });
  const owner = await findRecipient(tx, { kind: "general" });
  await auditCommand(
    tx,
    context,
    { ...owner, spaceId: skill.spaceId ?? owner.spaceId },
    "settings.v1.SkillService/DeleteSkill",
  );
}

/** All skills of the installation, newest first; at most 10,000. */
export const listSkills = (tx: Tx): Promise<readonly Skill[]> => tx.skills.all(listedMax);

/**
 * The owner of the imported skill, and the account whose log has the entry: for official skills that of the
 * first team's owner.
 */
async function resolveTarget(
  tx: Tx,
  target: SkillTarget,
): Promise<{ owner: SkillOwner; audited: Recipient }> {
  const none = { spaceId: null, accountId: null, projectId: null, clientId: null };
  switch (target.kind) {
    case "official":
      return {
        owner: { ...none, ownerType: "official" },
        audited: await findRecipient(tx, { kind: "general" }),
      };
    case "team": {
      const owner = await findRecipient(tx, { kind: "general", team: target.name });
      return { owner: { ...none, ownerType: "team", spaceId: owner.spaceId }, audited: owner };
    }
    case "user": {
      const user = await findRecipient(tx, { kind: "general", email: target.email });
      return { owner: { ...none, ...user, ownerType: "personal" }, audited: user };
    }
    case "project": {
      const project = await tx.projects.byId(target.id);
      if (!project) throw notFound("project");
      const { accountId, spaceId } = project;
      return {
        owner: { ...none, ownerType: "project", spaceId, projectId: project.id },
        audited: { accountId, spaceId },
      };
    }
  }
}
