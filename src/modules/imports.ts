import { importedFiles } from "../core/imports/imported-files.ts";
import { importedTasks } from "../core/imports/imported-tasks.ts";
import { imports } from "../core/imports/imports.ts";
import { importHandlers } from "../rpc/import.ts";
import type { CreateModule } from "./module.ts";
import { configuredProfiles } from "./profiles.ts";

export const createImports: CreateModule = ({ config, clock, ids, hooks }) => {
  const tasks = importedTasks({ clock, ids, profiles: configuredProfiles(config) });
  return { handlers: [importHandlers({ imports: imports(hooks), tasks, files: importedFiles(clock) })] };
};
