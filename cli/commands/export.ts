import { buildRouteMap } from "@stricli/core";
import type { EnterpriseExportRecord } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { argument, type ClientFlags, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import { bytesText } from "../frame/print.ts";
import { saveStream } from "./file.ts";

const stateOf = (status: string): string => status.replace("EXPORT_STATUS_", "").toLowerCase();
const scopes = {
  full: "ENTERPRISE_EXPORT_SCOPE_FULL",
  tasks: "ENTERPRISE_EXPORT_SCOPE_TASKS",
  "tasks-with-files": "ENTERPRISE_EXPORT_SCOPE_TASKS_WITH_ATTACHMENTS",
} as const;
const scopeNames = ["full", "tasks", "tasks-with-files"] as const;
const askMs = 2_000;

interface CreateFlags extends ClientFlags {
  readonly user?: string;
  readonly email?: string;
  readonly scope?: (typeof scopeNames)[number];
  readonly reason?: string;
  readonly wait?: boolean;
  readonly out?: string;
  readonly force?: boolean;
}

/** Waits for the end of an export. @throws CommandError when it fails */
async function waitForEnd(cli: Cli, uid: string): Promise<EnterpriseExportRecord> {
  const client = cli.client();
  for (;;) {
    const { record } = await client.call("enterprise.export.detail", { uid });
    if (record.status === "EXPORT_STATUS_COMPLETED") return record;
    if (record.status === "EXPORT_STATUS_FAILED" || record.status === "EXPORT_STATUS_CANCELLED")
      throw new CommandError(
        `the export is ${stateOf(record.status)}${record.error_message ? `: ${record.error_message}` : ""}`,
      );
    await cli.context.sleep(askMs);
  }
}

async function download(
  cli: Cli,
  { uid, file_url, file_size }: EnterpriseExportRecord,
  out: string,
  force: boolean,
): Promise<string> {
  if (file_url === undefined) throw new CommandError("the archive was deleted");
  // The address is signed: no credential is sent.
  const reply = await cli.context.fetch(file_url, { redirect: "error" });
  if (!reply.ok || !reply.body)
    throw new CommandError(`the archive cannot be downloaded: HTTP ${reply.status}`);
  return await saveStream(cli, reply.body, { out, force, name: `export-${uid}.zip`, total: file_size });
}

const create = command({
  brief: "Request an export of a person's data",
  examples: ["atp export create --email ann@example.com --wait --out ann.zip"],
  parameters: {
    flags: {
      ...clientFlags,
      user: textFlag("Account id of the person", "ID"),
      email: textFlag("E-mail address of the person"),
      scope: { kind: "enum", brief: "What to export, full by default", values: scopeNames, optional: true },
      reason: textFlag("Reason, for the audit log"),
      wait: switchFlag("Wait until the archive is made"),
      out: textFlag("File or folder to write the archive to; needs --wait", "PATH"),
      force: switchFlag("Replace a file that exists"),
    },
    aliases: { o: "out" },
  },
  run: async (
    cli: Cli,
    { user, email, scope = "full", reason, wait = false, out, force = false }: CreateFlags,
  ) => {
    if (out !== undefined && !wait) throw new UsageError("--out needs --wait");
    const created = await cli.client().call("enterprise.export.create", {
      scope: scopes[scope],
      ...defined({ user_id: user, email, reason }),
    });
    if (!wait) return cli.print.result(created, `${created.uid}\t${stateOf(created.status)}`);
    cli.print.note(`${created.uid}: waiting for the archive`);
    const record = await waitForEnd(cli, created.uid);
    const path = out === undefined ? undefined : await download(cli, record, out, force);
    cli.print.result(
      { ...record, ...defined({ path }) },
      `${record.uid}\t${bytesText(record.file_size ?? 0)}\t${path ?? record.file_url}`,
    );
  },
});

const list = command({
  brief: "List the exports of a person",
  examples: ["atp export list ann@example.com"],
  parameters: {
    flags: clientFlags,
    positional: exactly(argument("Account id or e-mail address of the person", "PERSON")),
  },
  run: async (cli: Cli, _flags: ClientFlags, user: string) => {
    const answer = await cli.client().call("enterprise.export.list", { user });
    const columns = [
      { title: "ID", text: ({ uid }: EnterpriseExportRecord) => uid },
      { title: "STATE", text: ({ status }: EnterpriseExportRecord) => stateOf(status) },
      { title: "SIZE", text: ({ file_size_human }: EnterpriseExportRecord) => file_size_human },
      { title: "CREATED", text: ({ created_at }: EnterpriseExportRecord) => created_at },
    ];
    cli.print.list(answer.records, columns, "There are no exports.");
  },
});

interface GetFlags extends ClientFlags {
  readonly out?: string;
  readonly force?: boolean;
}
const get = command({
  brief: "Download the archive of an export",
  examples: ["atp export get 0b7e0d9c-1c1f-4a5e-8d0e-6d6b8c0f7a11 --out ann.zip"],
  parameters: {
    flags: {
      ...clientFlags,
      out: textFlag("File or folder to write to, here by default", "PATH"),
      force: switchFlag("Replace a file that exists"),
    },
    aliases: { o: "out" },
    positional: exactly(argument("Id of the export", "ID")),
  },
  run: async (cli: Cli, { out = ".", force = false }: GetFlags, uid: string) => {
    const { record } = await cli.client().call("enterprise.export.detail", { uid });
    if (record.status !== "EXPORT_STATUS_COMPLETED")
      throw new CommandError(`the export is ${stateOf(record.status)}`);
    const path = await download(cli, record, out, force);
    cli.print.result({ ...record, path }, path);
  },
});

export const exportRoutes = buildRouteMap({
  docs: { brief: "Exports of a person's data" },
  routes: { create, list, get },
});
