import { readFile, stat } from "node:fs/promises";
import { auditCommand } from "../audit/command-audit.ts";
import { absent, invalid } from "../failure.ts";
import type { Making } from "../keys/make-key.ts";
import { findRecipient, type Recipient } from "../keys/recipient.ts";
import type { Tx } from "../store.ts";
import { readFolder } from "./folder.ts";
import { auditOfSkill, dropSkills, keepOrReplace, type StagedSkill } from "./keep.ts";
import { type PackedSkill, pack } from "./pack.ts";
import type { Skill, SkillShelf } from "./skill.ts";
import { archiveBytesMax, unzip } from "./unzip.ts";

/** Whose an operator's skill is to be. */
export type SkillTarget =
  | { readonly kind: "official" }
  /** The first team unless named. */
  | { readonly kind: "team"; readonly name: string | undefined }
  | { readonly kind: "project"; readonly id: string }
  | { readonly kind: "user"; readonly email: string };

/** So many lines a list has at most. */
const listedMax = 10_000;

/** Reads a skill from a folder or a ZIP of this machine. @throws Failure `invalid` as for one that is uploaded. */
export async function readSkill(path: string): Promise<PackedSkill> {
  const found = await stat(path);
  if (found.isDirectory()) return pack(path, await readFolder(path, path));
  if (found.size > archiveBytesMax) throw invalid(path, "a ZIP of a skill has at most 50 MB");
  return pack(path, await unzip(path, await readFile(path)));
}

/** Keeps a skill, in the place of the one that has its name there. @throws Failure `absent` or `exhausted`. */
export async function importSkill(tx: Tx, making: Making, target: SkillTarget, staged: StagedSkill): Promise<Skill> {
  const { shelf, audited } = await placeOf(tx, target);
  await tx.accounts.lockSpace(audited.spaceId);
  const skill = await keepOrReplace(tx, shelf, staged, { id: making.ids.short(), now: making.now });
  tx.audit.note({ subject: skill.id, after: auditOfSkill(skill) });
  await auditCommand(tx, making, audited, "settings.v1.SkillService/CreateSkill");
  return skill;
}

/** @throws Failure `absent` */
export async function removeSkill(tx: Tx, making: Making, id: string): Promise<void> {
  const skill = await tx.skills.byId(id);
  if (!skill) throw absent("skill");
  if ((await dropSkills(tx, [skill], making.now)) === 0) throw absent("skill");
  tx.audit.note({ subject: id, before: auditOfSkill(skill) });
  const owner = await findRecipient(tx, { kind: "general" });
  await auditCommand(tx, making, { ...owner, spaceId: skill.spaceId ?? owner.spaceId }, "settings.v1.SkillService/DeleteSkill");
}

/** A line for each skill, newest first: id, owner type, space, size, name. */
export async function listSkills(tx: Tx): Promise<string> {
  const all = await tx.skills.all(listedMax);
  return all.map(({ id, ownerType, spaceId, bytes, name }) => `${[id, ownerType, spaceId ?? "-", bytes, name].join("  ")}\n`).join("");
}

/** Where it will stand, and in whose log it is told: what is official, in that of the first team. */
async function placeOf(tx: Tx, target: SkillTarget): Promise<{ readonly shelf: SkillShelf; readonly audited: Recipient }> {
  const none = { spaceId: null, accountId: null, projectId: null, clientId: null };
  switch (target.kind) {
    case "official":
      return { shelf: { ...none, ownerType: "official" }, audited: await findRecipient(tx, { kind: "general" }) };
    case "team": {
      const owner = await findRecipient(tx, { kind: "general", team: target.name });
      return { shelf: { ...none, ownerType: "team", spaceId: owner.spaceId }, audited: owner };
    }
    case "user": {
      const user = await findRecipient(tx, { kind: "general", email: target.email });
      return { shelf: { ...none, ...user, ownerType: "personal" }, audited: user };
    }
    case "project": {
      const project = await tx.projects.byId(target.id);
      if (!project) throw absent("project");
      const { accountId, spaceId } = project;
      return { shelf: { ...none, ownerType: "project", spaceId, projectId: project.id }, audited: { accountId, spaceId } };
    }
  }
}
