import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Operation } from "../../src/operations.ts";
import { root } from "../support/server-process.ts";

/** By the v2 name or, where there is none, the RPC: the test that shows best that an operation does what the contract says. */
export const proofs: Readonly<Record<string, string>> = {
  ...of("tasks", {
    "task.create": "create",
    "task.detail": "detail",
    "task.list": "list",
    "task.update": "update",
    "task.stop": "stop",
    "task.delete": "delete",
    "task.sendMessage": "send-message",
    "task.listMessages": "list-messages",
    "task.watch": "watch",
    "task.confirmAction": "confirm-action",
  }),
  ...of("wires", { "task.v2.TaskService/GetConversation": "table", "task.v2.TaskService/ListConversations": "table" }),
  ...of("projects", { "project.create": "create", "project.list": "list", "user.me": "user-me" }),
  ...of("files", {
    "file.upload": "upload",
    "file.detail": "upload",
    "file.v2.FileService/ListFiles": "upload",
    "file.delete": "upload",
  }),
  ...of("webhooks", {
    "webhook.create": "create",
    "webhook.list": "create",
    "webhook.delete": "manage",
    "webhook.publicKey": "manage",
    "webhook.update": "log",
    "webhook.rotateSecret": "manage",
    "webhook.ping": "manage",
    "webhook.deliveries": "log",
    "webhook.attempts": "log",
    "webhook.resend": "log",
    "webhook.recover": "log",
  }),
  ...all("skills/settings", ["skill.list", ...rpcs("settings.v1.SkillService", "CreateSkill ListSkills UpdateSkill DeleteSkill")]),
  ...all("connectors/settings", [
    "connector.list",
    ...rpcs("settings.v1.ConnectorService", "InstallConnector ListInstalled SetConnectorPolicy SetDefault RemoveConnector RefreshTools"),
    ...rpcs("settings.v1.ConnectorService", "GetProjectConnectors SetProjectConnectors"),
  ]),
  ...all("connectors/oauth", rpcs("settings.v1.ConnectorService", "BeginAuthorization")),
  ...all("agents/agents", ["agent.list", "agent.detail", "agent.update"]),
  ...all("browsers/attach", ["browser.onlineList", "browser.v2.BrowserService/Attach"]),
  ...all("usage/usage", ["usage.list", "usage.availableCredits", "usage.teamStatistic", "usage.teamLog"]),
  ...all("websites/website", ["website.status", "website.listCheckpoints", "website.publish", "website.update"]),
  ...all("settings/keys", rpcs("settings.v1.ApiKeyService", "CreateApiKey ListApiKeys RevokeApiKey")),
  ...all("settings/ownership", rpcs("settings.v1.TeamService", "TransferOwnership")),
  ...all("settings/budgets", rpcs("settings.v1.BudgetService", "SetBudget ListBudgets RemoveBudget")),
  ...all("settings/workers", rpcs("settings.v1.WorkerService", "CreateWorker ListWorkers RevokeWorker")),
  ...all(
    "settings/apps",
    rpcs(
      "oauth.v2.OAuth2AppService",
      "CreateOAuth2App GetOAuth2App ListOAuth2Apps UpdateOAuth2App DeleteOAuth2App CreateOAuth2AppSecret ListOAuth2AppSecrets RevokeOAuth2AppSecret",
    ),
  ),
  ...all("settings/grants", rpcs("oauth.v2.OAuth2AppService", "ListOAuth2Grants RevokeOAuth2Grant")),
  ...all("teams/team-users", ["team.user.list"]),
  ...all("teams/invitation", ["team.user.detail", "team.user.create", "team.user.rename"]),
  ...all("teams/powers", ["team.user.update", "team.user.delegate", "team.user.reclaim", "team.user.remove"]),
  ...all("teams/assets", ["team.asset.list", "team.asset.update_scope"]),
  ...all("exports/exports", rpcs("dataexport.v1.EnterpriseDataExportService", "CreateExport GetExport ListExports GetDownloadURL")),
  ...all(
    "exports/exports",
    ["create", "detail", "list", "downloadUrl"].map((name) => `enterprise.export.${name}`),
  ),
  ...all("exports/list-tasks", ["enterprise.task.list", "dataexport.v1.EnterpriseDataExportService/ListTasks"]),
  ...all(
    "exports/compliance",
    ["create", "detail", "downloadUrl"].map((name) => `enterprise.compliance.export.${name}`),
  ),
  ...all("audit/list", ["audit.list"]),
  ...all("workers/access", rpcs("worker.v1.WorkerService", "Poll")),
  ...all("workers/work", rpcs("worker.v1.WorkerService", "Heartbeat Append Finish")),
  ...all("workers/files", rpcs("worker.v1.WorkerService", "Upload")),
  ...all("connectors/use", rpcs("worker.v1.WorkerService", "CallTool")),
  ...all("workers/subtasks", rpcs("worker.v1.WorkerService", "StartSubtask")),
  ...all("workers/lease", rpcs("worker.v1.WorkerService", "Release")),
};

function of(folder: string, tests: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tests).map(([name, file]) => [name, `test/${folder}/${file}.test.ts`]));
}

function all(file: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `test/${file}.test.ts`]));
}

function rpcs(service: string, methods: string): readonly string[] {
  return methods.split(" ").map((method) => `${service}/${method}`);
}

/** Whether a test, or what it imports out of test/, calls an operation by a name of it. */
export function mentions(file: string, operation: Operation): boolean {
  const { method, name, rpc } = operation;
  const word = new RegExp(`(?<![\\w.])(${method.localName}|${method.name})(?!\\w)|["/.]${method.localName}\\b`);
  // Rigs of a family of operations are told the last part alone.
  const last = /^\w+\.\w+\.(\w+)$/.exec(name ?? "")?.[1];
  return [file, ...importsOf(file)].some((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return (
      (name !== null && text.includes(name)) || (last !== undefined && text.includes(`"${last}"`)) || text.includes(rpc) || word.test(text)
    );
  });
}

/** The paths of what a test imports by a relative path, as far as they are tests' too. */
function importsOf(file: string): readonly string[] {
  const found = readFileSync(join(root, file), "utf8").matchAll(/from "(\.{1,2}\/[^"]+)"/g);
  return [...found].flatMap(([, path = ""]) => {
    const imported = join(dirname(file), path);
    return imported.startsWith("test/") && !imported.startsWith("test/support/") && existsSync(join(root, imported)) ? [imported] : [];
  });
}
