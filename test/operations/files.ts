import { systemIds } from "../../src/core/ids.ts";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { SkillService as SkillListService } from "../../src/gen/proto/skill/v2/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { entries, noInput, type Prepare } from "./entry.ts";

const fileId: Prepare = async (person) => {
  const { body } = await person.v2("file.upload", { filename: "notes.txt" });
  return { file_id: body["file"].id };
};

/** A ZIP with a SKILL.md with a unique name, in base64. */
const newSkill: Prepare = async () => ({ archive: skillZip(systemIds.short()).toString("base64") });

const skillId: Prepare = async (person) => {
  const { skill } = await person
    .client(SkillService)
    .createSkill({ archive: Uint8Array.from(skillZip(systemIds.short())) });
  return { id: skill?.id ?? "" };
};

/** A skill, and a ZIP with the same name. */
const replacement: Prepare = async (person) => {
  const archive = skillZip(systemIds.short());
  const { skill } = await person.client(SkillService).createSkill({ archive: Uint8Array.from(archive) });
  return { id: skill?.id ?? "", archive: archive.toString("base64") };
};

/** `file.v2.FileService`. */
export const fileEntries = entries(FileService, {
  uploadFile: ["files/upload", async () => ({ filename: "notes.txt" })],
  getFile: ["files/upload", fileId],
  deleteFile: ["files/upload", fileId],
  listFiles: ["files/list", noInput],
});

/** `skill.v2.SkillService`. */
export const skillEntries = entries(SkillListService, {
  listSkills: ["skills/settings", noInput],
});

/** `settings.v1.SkillService`. */
export const skillSettingsEntries = entries(SkillService, {
  createSkill: ["skills/settings", newSkill],
  listSkills: ["skills/settings", noInput],
  updateSkill: ["skills/settings", skillId],
  deleteSkill: ["skills/settings", skillId],
  getSkillContent: ["skills/content", skillId],
  replaceSkillContent: ["skills/content", replacement],
});
