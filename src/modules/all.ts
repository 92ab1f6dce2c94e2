import { createAccounts } from "./accounts.ts";
import { createAudit } from "./audit.ts";
import { createBrowsers } from "./browsers.ts";
import { createConnectors } from "./connectors.ts";
import { createDocuments } from "./documents.ts";
import { createExports } from "./exports.ts";
import { createFiles } from "./files.ts";
import { createImports } from "./imports.ts";
import { createInstallation } from "./installation.ts";
import { createModels } from "./model-service.ts";
import type { CreateModule } from "./module.ts";
import { createOAuth } from "./oauth.ts";
import { createProfiles } from "./profiles.ts";
import { createProjects } from "./projects.ts";
import { createSchedules } from "./schedules.ts";
import { createSharedTasks } from "./shared-tasks.ts";
import { createSkills } from "./skills.ts";
import { createTasks } from "./tasks.ts";
import { createTeams } from "./teams.ts";
import { createUsage } from "./usage.ts";
import { createWebhooks } from "./webhooks.ts";
import { createWebsites } from "./websites.ts";
import { createWorkers } from "./workers.ts";

/** The modules of a process, without its pages. */
export const allModules: readonly CreateModule[] = [
  createFiles,
  createDocuments,
  createOAuth,
  createTeams,
  createAccounts,
  createProjects,
  createTasks,
  createSharedTasks,
  createSchedules,
  createSkills,
  createConnectors,
  createProfiles,
  createBrowsers,
  createUsage,
  createWorkers,
  createAudit,
  createInstallation,
  createModels,
  createWebhooks,
  createWebsites,
  createExports,
  createImports,
];
