import type { Operation } from "../../src/pipeline/operations.ts";
import { browserEntries, connectorEntries, connectorSettingsEntries } from "./connectors.ts";
import type { Entry } from "./entry.ts";
import { complianceEntries, exportEntries, exportV1Entries } from "./exports.ts";
import { fileEntries, skillEntries, skillSettingsEntries } from "./files.ts";
import { importEntries } from "./imports.ts";
import { appEntries } from "./oauth.ts";
import { scheduleEntries } from "./schedules.ts";
import {
  agentEntries,
  agentProfileEntries,
  auditEntries,
  projectEntries,
  sharedTaskEntries,
  taskEntries,
  userEntries,
} from "./tasks.ts";
import {
  accountEntries,
  apiKeyEntries,
  assetAuditEntries,
  assetManageEntries,
  budgetEntries,
  installationEntries,
  teamEntries,
  teamUserEntries,
  usageEntries,
} from "./teams.ts";
import { webhookEntries } from "./webhooks.ts";
import { websiteEntries } from "./websites.ts";
import { workerEntries, workerSettingsEntries } from "./workers.ts";

/** Every operation by its RPC name: a call that succeeds, and the test that proves it. */
export const registry: ReadonlyMap<string, Entry> = new Map([
  ...taskEntries,
  ...sharedTaskEntries,
  ...scheduleEntries,
  ...projectEntries,
  ...webhookEntries,
  ...fileEntries,
  ...skillEntries,
  ...connectorEntries,
  ...agentEntries,
  ...agentProfileEntries,
  ...browserEntries,
  ...websiteEntries,
  ...userEntries,
  ...auditEntries,
  ...installationEntries,
  ...usageEntries,
  ...budgetEntries,
  ...accountEntries,
  ...apiKeyEntries,
  ...skillSettingsEntries,
  ...teamEntries,
  ...teamUserEntries,
  ...assetAuditEntries,
  ...assetManageEntries,
  ...workerSettingsEntries,
  ...connectorSettingsEntries,
  ...workerEntries,
  ...appEntries,
  ...exportEntries,
  ...exportV1Entries,
  ...complianceEntries,
  ...importEntries,
]);

/**
 * @throws Error for an operation without an entry; `test/docs/compatibility.test.ts` proves that there is
 * none.
 */
export function entryOf({ rpc }: Pick<Operation, "rpc">): Entry {
  const entry = registry.get(rpc);
  if (!entry) throw new Error(`${rpc} has no entry in test/operations/registry.ts`);
  return entry;
}
