import type { Command, RouteMap } from "@stricli/core";
import type { CliContext } from "./frame/context.ts";

export type Target = Command<CliContext> | RouteMap<CliContext>;

/** A first word of the command line. Its module is loaded when the word is given. */
export interface Entry {
  readonly brief: string;
  readonly load: () => Promise<Target>;
}

const entry = (brief: string, load: () => Promise<Target>): Entry => ({ brief, load });

/** Commands that call the API with the credential of a profile. */
export const clientCommands: Readonly<Record<string, Entry>> = {
  login: entry(
    "Sign in to an installation, and store the credential in a profile",
    async () => (await import("./commands/login.ts")).login,
  ),
  logout: entry(
    "Remove the profile with its credential from this machine",
    async () => (await import("./commands/login.ts")).logout,
  ),
  whoami: entry(
    "Show who the credential belongs to",
    async () => (await import("./commands/login.ts")).whoami,
  ),
  profile: entry(
    "List and choose profiles",
    async () => (await import("./commands/profile.ts")).profileRoutes,
  ),
  task: entry("Create, follow and decide tasks", async () => (await import("./commands/task.ts")).taskRoutes),
  file: entry("Upload, list and download files", async () => (await import("./commands/file.ts")).fileRoutes),
  schedule: entry(
    "Tasks that start at set times",
    async () => (await import("./commands/schedule.ts")).scheduleRoutes,
  ),
  project: entry(
    "Projects, which tasks join",
    async () => (await import("./commands/project.ts")).projectRoutes,
  ),
  agent: entry(
    "Profiles of agents, and their rules",
    async () => (await import("./commands/agent.ts")).agentRoutes,
  ),
  webhook: entry(
    "Webhooks and their deliveries",
    async () => (await import("./commands/webhook.ts")).webhookRoutes,
  ),
  app: entry("OAuth apps of the team", async () => (await import("./commands/app.ts")).appRoutes),
  connector: entry(
    "Connectors, whose tools agents use",
    async () => (await import("./commands/connector.ts")).connectorRoutes,
  ),
  skill: entry("Skills, which agents load", async () => (await import("./commands/skill.ts")).skillRoutes),
  usage: entry(
    "Show the credits that are left, and those that were used on each day",
    async () => (await import("./commands/usage.ts")).usage,
  ),
  export: entry(
    "Exports of a person's data",
    async () => (await import("./commands/export.ts")).exportRoutes,
  ),
  import: entry(
    "Copy projects, tasks, files and webhooks from another server",
    async () => (await import("./commands/import.ts")).importCommand,
  ),
  mcp: entry(
    "Serve the Model Context Protocol over standard input and output, for a client on this machine",
    async () => (await import("./commands/mcp.ts")).mcp,
  ),
  acp: entry(
    "Serve the Agent Client Protocol over standard input and output, as the agent of an editor",
    async () => (await import("./commands/acp.ts")).acp,
  ),
  api: entry(
    "Call any operation of the API, and write its answer as JSON",
    async () => (await import("./commands/api.ts")).api,
  ),
  fixtures: entry(
    "Make the calls of a file, for demos and tests",
    async () => (await import("./commands/fixtures.ts")).fixtures,
  ),
  record: entry(
    "Record the calls to a server in a file, for tests without it",
    async () => (await import("./commands/record.ts")).record,
  ),
  replay: entry(
    "Answer calls from a file of atp record",
    async () => (await import("./commands/record.ts")).replay,
  ),
  check: entry(
    "Compare a server with the specification: each operation works, differs or is missing",
    async () => (await import("./commands/check.ts")).check,
  ),
  "verify-release": entry(
    "Compare the files of a release with their digests",
    async () => (await import("./commands/verify-release.ts")).verifyRelease,
  ),
  completion: entry(
    "Write the script that completes commands in a shell",
    async () => (await import("./commands/completion.ts")).completion,
  ),
};

/**
 * Commands on the server, which read its settings and open its database. Each is the file `server/NAME.ts`.
 * One whose name is that of a command of the API begins with `server-`.
 */
export const serverCommands: Readonly<Record<string, Entry>> = {
  serve: entry("Start a server", async () => (await import("./server/serve.ts")).serve),
  migrate: entry(
    "Migrate the database, and do nothing else",
    async () => (await import("./server/migrate.ts")).migrate,
  ),
  status: entry(
    "Show the state of the installation on one screen",
    async () => (await import("./server/status.ts")).status,
  ),
  doctor: entry(
    "Check the settings, the machine and all services that a server uses, and say what to do",
    async () => (await import("./server/doctor.ts")).doctor,
  ),
  packages: entry(
    "List and install optional packages of the server",
    async () => (await import("./server/packages.ts")).packages,
  ),
  config: entry(
    "Show the settings with their sources, and check them",
    async () => (await import("./server/config.ts")).config,
  ),
  key: entry("Create, list and revoke API keys", async () => (await import("./server/key.ts")).key),
  user: entry(
    "Invite people, name operators, and reset second factors",
    async () => (await import("./server/user.ts")).user,
  ),
  "worker-key": entry(
    "Create a credential for remote workers, and write only the credential",
    async () => (await import("./server/worker-key.ts")).workerKey,
  ),
  "webhook-key": entry(
    "Replace the key that signs deliveries, and write the new public key",
    async () => (await import("./server/webhook-key.ts")).webhookKey,
  ),
  credits: entry("Grant and refund credits", async () => (await import("./server/credits.ts")).credits),
  budget: entry("Budgets of a team's space", async () => (await import("./server/budget.ts")).budget),
  website: entry("Limit who can open a website", async () => (await import("./server/website.ts")).website),
  audit: entry("Verify the audit log", async () => (await import("./server/audit.ts")).audit),
  "server-connector": entry(
    "Install, list, test and remove connectors of a person or a space",
    async () => (await import("./server/server-connector.ts")).serverConnector,
  ),
  "server-export": entry(
    "List and cancel exports of all accounts",
    async () => (await import("./server/server-export.ts")).serverExport,
  ),
  "server-skill": entry(
    "Import, list and delete skills of all users",
    async () => (await import("./server/server-skill.ts")).serverSkill,
  ),
  backup: entry(
    "Copy the database and the files into a new folder",
    async () => (await import("./server/backup.ts")).backup,
  ),
  restore: entry(
    "Restore a backup into an empty place",
    async () => (await import("./server/restore.ts")).restore,
  ),
  resume: entry(
    "Show what would start in a restored installation, and let servers start on it",
    async () => (await import("./server/resume.ts")).resume,
  ),
  erase: entry("Erase a person or a space", async () => (await import("./server/erase.ts")).erase),
  "legal-hold": entry(
    "Protect persons and spaces from erasure and retention",
    async () => (await import("./server/legal-hold.ts")).legalHold,
  ),
  "rotate-key": entry(
    "Replace the key that encrypts secrets at rest",
    async () => (await import("./server/rotate-key.ts")).rotateKey,
  ),
  move: entry(
    "Move an installation to another database",
    async () => (await import("./server/move.ts")).move,
  ),
  "worker-check": entry(
    "Run a worker through all situations of the worker protocol, and report its errors",
    async () => (await import("./server/worker-check.ts")).workerCheck,
  ),
  bench: entry(
    "Measure the figures of docs/internals/performance.md, in a checkout only",
    async () => (await import("./server/bench.ts")).bench,
  ),
  client: entry(
    "Build the packages of both clients, in a checkout only",
    async () => (await import("./server/client.ts")).client,
  ),
};

/** All commands, in the groups of the help. */
export const groups: Readonly<Record<string, readonly string[]>> = {
  TASKS: ["task", "file", "project", "schedule", "agent", "skill"],
  "APPS AND WEBHOOKS": ["app", "connector", "webhook"],
  ACCOUNT: ["login", "logout", "whoami", "profile", "usage", "export"],
  TOOLS: [
    "api",
    "mcp",
    "acp",
    "import",
    "fixtures",
    "record",
    "replay",
    "check",
    "verify-release",
    "completion",
  ],
  SERVER: [
    "serve",
    "status",
    "doctor",
    "config",
    "packages",
    "migrate",
    "move",
    "worker-check",
    "bench",
    "client",
  ],
  "SERVER: PEOPLE AND KEYS": ["user", "key", "worker-key", "webhook-key", "rotate-key"],
  "SERVER: SPACES": [
    "credits",
    "budget",
    "website",
    "audit",
    "legal-hold",
    "erase",
    "server-connector",
    "server-export",
    "server-skill",
  ],
  "SERVER: BACKUPS": ["backup", "restore", "resume"],
};
