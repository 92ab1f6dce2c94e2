import { skills } from "../core/skills/skills.ts";
import { skillHandlers, skillSettingsHandlers } from "../rpc/skill.ts";
import type { CreateModule } from "./module.ts";

export const createSkills: CreateModule = ({ store, clock, ids, files }) => {
  const catalogue = skills({ ...files, store, clock, ids });
  return { handlers: [skillHandlers(catalogue), skillSettingsHandlers(catalogue)] };
};
