/** A folder or file of `src` and what it may import. A folder in it may import this too. */
export interface Room {
  /** Below `src`, without `.ts`: `core`, `core/skills`, `config/config`. */
  readonly name: string;
  /**
   * What it does, for the table of docs/internals/architecture.md; a room without it is named in the row of
   * the room around it.
   */
  readonly does?: string;
  /**
   * Besides itself, `async` and the types of `config`: other rooms and files, `node:`, packages by name or by
   * prefix, `@fastify/`. `type ` in front allows types only. `*` is everything, and only such rooms import a
   * room with `*`.
   */
  readonly may: readonly string[];
}

/** What every surface shows of an action: rules without Node. */
export const acts = ["core/actions/act", "core/actions/visible"];
/** What MCP, A2A, AG-UI and ACP share, without the call path of this process. */
export const shared = [
  ...acts,
  "core/failure",
  "core/json",
  "packages/client/src/index",
  ...["ask", "caller-client", "refusal", "turn"].map((file) => `protocols/shared/${file}`),
];
/** What an address of a protocol needs besides its protocol. */
const addressed = ["pipeline", "core", "http", "protocols/shared", "gen/proto", "@bufbuild/", "fastify"];

/** The rooms of `src`, in the order of the table. */
export const rooms: readonly Room[] = [
  {
    name: "async",
    does: "control of concurrent work: `coalesce`, `singleFlight`, `mutex`, `limitConcurrency`, `poll`, `batchReads`, and `dispatcher.ts` for those that send; `lazy`, for values and packages that are made or loaded at their first use",
    may: ["node:"],
  },
  {
    name: "core",
    does: "what the service is: a folder for each noun, and `use-cases/` that join nouns ([below](#the-core))",
    may: ["node:"],
  },
  { name: "core/skills", may: ["yaml", "yauzl", "yazl"] },
  { name: "core/oauth", may: ["jose"] },
  { name: "core/files", may: ["mime"] },
  { name: "core/actions", may: ["ajv"] },
  { name: "core/schedules", may: ["croner"] },
  {
    name: "store",
    does: "SQL and Prisma on SQLite and PostgreSQL; `rows/` has a file for each aggregate",
    may: ["node:", "core", "gen/prisma", "@prisma/", "sql-template-tag", "pg", "pg-boss"],
  },
  {
    name: "pipeline",
    does: "every call: the table of operations, read from the descriptors at start (a gap stops the start), and the two halves of a call, `admit` and `perform`, with their steps",
    may: ["node:", "core", "gen/proto", "@bufbuild/"],
  },
  {
    name: "rpc",
    does: "the handlers of each service: one call to the core and a conversion",
    may: ["core", "gen/proto", "pipeline/handlers", "@bufbuild/"],
  },
  {
    name: "http",
    does: "the wires on one port (`v2/`, `v1/`, `openai/`, `files/`), the front for HTTP/1.1 and HTTP/2, limits of connections and bodies; `docs/` serves the built site, its Markdown and `/llms.txt`",
    may: [
      "node:",
      "pipeline",
      "core",
      "gen/proto",
      "@bufbuild/",
      "@connectrpc/",
      "fastify",
      "@fastify/",
      "jsonc-parser",
      "zod",
    ],
  },
  { name: "http/docs", may: ["mime"] },
  {
    name: "oauth",
    does: "endpoints for OAuth clients, and the rules of the authorization request",
    may: ["node:", "core", "pipeline", "http", "fastify", "@fastify/"],
  },
  {
    name: "protocols/shared",
    does: "what MCP, A2A, AG-UI and ACP share: `caller-client.ts` is the client of one request, which `transport.ts` carries to operations in this process and `cli/rights.ts` over HTTP, `refusal.ts` makes the failure of what a call throws, `turn.ts` follows a task, `ask.ts` makes forms of questions and approvals",
    may: [
      "node:",
      "pipeline",
      "core",
      "http",
      "gen/proto",
      "@bufbuild/",
      "packages/client/src/index",
      "type @modelcontextprotocol/server",
    ],
  },
  {
    name: "protocols/mcp",
    does: "the Model Context Protocol: tools of the operations, resources, prompts and tasks; `http/` is `/mcp`, `cli/commands/mcp.ts` is `atp mcp`",
    may: [
      "node:",
      "pipeline/access",
      "pipeline/operations",
      ...shared,
      "@modelcontextprotocol/server",
      "zod",
    ],
  },
  { name: "protocols/mcp/http", may: [...addressed, "oauth/metadata"] },
  {
    name: "protocols/agui",
    does: "the Agent-User Interaction protocol: translates runs; `http/` is `/ag-ui`",
    may: ["node:", "core/accounts/caller", ...shared, "narration", "type @ag-ui/core", "zod"],
  },
  { name: "protocols/agui/http", may: addressed },
  {
    name: "protocols/a2a",
    does: "the Agent2Agent protocol: `methods.ts` has its methods, `task.ts` and `updates.ts` its tasks and streams, `agents.ts` its cards; `push/` sends push notifications; `http/` has the bindings JSON-RPC, HTTP+JSON and gRPC",
    may: [
      "node:",
      "core",
      ...shared,
      "http/failure",
      "gen/proto",
      "@bufbuild/",
      "@connectrpc/connect",
      "jose",
    ],
  },
  { name: "protocols/a2a/push", may: ["webhooks/post", "webhooks/record"] },
  { name: "protocols/a2a/http", may: addressed },
  {
    name: "protocols/scim",
    does: "team members by SCIM 2.0",
    may: ["node:", "core", "pipeline", "http", "gen/proto", "@bufbuild/", "fastify", "scim2-parse-filter"],
  },
  {
    name: "narration",
    does: "what a watch adds to a conversation: texts from their parts and their event, uses of tools",
    may: shared,
  },
  {
    name: "sign-in-pages",
    does: "pages: sign-in, single sign-on, consent, second factors; `application.ts` serves the built web application",
    may: ["node:", "pipeline", "core", "http", "fastify", "mime", "openid-client"],
  },
  { name: "sign-in-pages/factors", may: ["@simplewebauthn/server", "uqr", "zod"] },
  { name: "sign-in-pages/consent", may: ["oauth/authorize"] },
  {
    name: "websites",
    does: "serving of websites, each on a separate host, and the gate of team sites",
    may: ["node:", "core", "http"],
  },
  {
    name: "runtime",
    does: "runs of agents: claim, heartbeat, events, ending; `agents/` are the agents, `remote/` the runs of workers, `exports/` the archives of exports",
    may: ["node:", "core", "jobs"],
  },
  { name: "runtime/agents/a2a", may: ["gen/proto", "@bufbuild/"] },
  { name: "runtime/agents/model", may: ["type config/models", "ai", "@ai-sdk/", "ajv", "undici"] },
  {
    name: "runtime/agents/model/tools",
    may: [
      "csv-parse",
      "unpdf",
      "type @napi-rs/canvas",
      "linkedom",
      "@mozilla/readability",
      "turndown",
      "@joplin/turndown-plugin-gfm",
    ],
  },
  { name: "runtime/exports", may: ["yazl"] },
  {
    name: "jobs",
    does: "taking jobs: `embedded.ts` on SQLite, `postgres.ts` on PostgreSQL; `timed.ts` runs the timed jobs, `all.ts` lists them",
    may: ["node:", "core", "pg-boss"],
  },
  { name: "jobs/all", may: ["runtime"] },
  {
    name: "webhooks",
    does: "delivery to webhooks: signature, schedule, requests",
    may: ["node:", "core", "adapters/egress", "undici"],
  },
  {
    name: "adapters/egress",
    does: "requests to addresses that users supply: name look-up, guard, fetch",
    may: ["node:", "core", "undici"],
  },
  {
    name: "adapters/connectors",
    does: "calls to MCP servers within bounds, and sign-in to them",
    may: ["core", "adapters/egress", "@modelcontextprotocol/client"],
  },
  { name: "adapters/mail", does: "mail over SMTP", may: ["node:", "core", "nodemailer"] },
  {
    name: "adapters/pdf",
    does: "PDFs of HTML and Markdown, made by a closed Chromium",
    may: ["node:", "core", "adapters/egress", "marked"],
  },
  {
    name: "adapters/storage",
    does: "bytes of files, in a folder or an S3 bucket",
    may: ["node:", "core", "flydrive", "@aws-sdk/"],
  },
  {
    name: "adapters/search",
    does: "the operator's search of the web",
    may: ["node:", "core", "adapters/egress", "undici"],
  },
  {
    name: "adapters/transcription",
    does: "transcripts of recordings from the operator's service",
    may: ["node:", "core", "adapters/egress", "undici"],
  },
  {
    name: "observability/metrics",
    does: "metrics of a process: it implements `Observe` of `core/observe.ts`, which every module calls, and bounds the series",
    may: ["node:", "core", "prom-client"],
  },
  {
    name: "observability/telemetry",
    does: "traces by OTLP: it implements `Tracing` of `core/trace.ts`, whose current span every module can ask for",
    may: ["node:", "core", "@opentelemetry/"],
  },
  { name: "observability/log", does: "the log's lines", may: ["core", "start/process/output", "pino"] },
  {
    name: "backup",
    does: "`atp backup`, `atp restore` and `atp move`: the folder of a backup, its sums, copies of databases, the copy of all tables between them, the order of steps. The server does not load it",
    may: ["node:", "core", "store", "adapters/storage/durable-file", "zod", "pg"],
  },
  {
    name: "config",
    does: "the environment and the files that it names, checked; `config.ts` alone reads `process.env`",
    may: [
      "node:",
      "scripts/release/clone",
      "core/nearest",
      "core/json",
      "core/permissions/rule",
      "core/tasks/fetch-policy",
      "core/permissions/tool-names",
      "core/tasks/profile",
      "smol-toml",
      "zod",
      "tldts",
    ],
  },
  {
    name: "start/process",
    does: "the end of the process (signals, the thread that kills it), and output that neither blocks nor throws",
    may: ["node:"],
  },
  {
    name: "start",
    does: "`installation.ts` opens the data folder, key and database, `platform.ts` connects the parts of one process over an open store; the first key, addresses",
    may: ["*"],
  },
  {
    name: "modules",
    does: "a module for each subject: `createProjects(context)` returns its handlers and routes, and how it ends; `all.ts` lists them; `test-mode/` is `atp serve --test`, which no other server loads",
    may: ["*"],
  },
  {
    name: "serve",
    does: "opens, serves until a signal, closes in reverse order; `atp serve` calls it",
    may: ["*"],
  },
];

export const isIn = (name: string, room: string): boolean =>
  name === room || name.startsWith(/[:/]$/.test(room) ? room : `${room}/`);
