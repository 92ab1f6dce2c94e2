import { buildRouteMap } from "@stricli/core";
import type { Export } from "../../src/core/exports/export.ts";
import { cancelExport, listOpenExports } from "../../src/core/exports/exports.ts";
import { argument, exactly } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

const shown = ({ id, status, progress: { done, total }, createdAt, ...of }: Export) => ({
  id,
  status,
  done,
  total,
  percent: total === 0 ? 0 : Math.floor((done / total) * 100),
  account_id: of.kind === "data" ? of.accountId : null,
  created_at: new Date(createdAt).toISOString(),
});

const lineOf = ({
  id,
  status,
  done,
  total,
  percent,
  account_id,
  created_at,
}: ReturnType<typeof shown>): string =>
  `${id}  ${status}  ${done}/${total} ${percent}%  ${account_id ?? "compliance"}  ${created_at}`;

const list = installationCommand({
  brief: "List unfinished exports, oldest first: id, status, percent, account, time of the request",
  examples: ["atp server-export list"],
  parameters: { flags: installationFlags },
  run: async ({ store, print }: OnInstallation) =>
    print.lines((await listOpenExports(store)).map(shown), lineOf),
});

const cancel = installationCommand({
  brief: "Cancel an export, and delete its archive",
  examples: ["atp server-export cancel 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: installationFlags, positional: exactly(argument("Id of the export", "ID")) },
  run: async ({ store, creationContext }: OnInstallation, _flags: InstallationFlags, id: string) =>
    store.change((tx) => cancelExport(tx, creationContext(), id)),
});

export const serverExport = buildRouteMap({
  docs: { brief: "List and cancel exports of all accounts" },
  routes: { list, cancel },
});
