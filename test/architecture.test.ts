import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** What every surface shows of an action: rules without Node. */
const acts = ["core/actions/act", "core/actions/visible"];
/** What the doors of other protocols share, without the call path of this process. */
const doors = [...acts, "protocols/shared/ask", "protocols/shared/operations", "protocols/shared/turn"];
/** Allowed imports of each module besides itself, `async` and the configuration's type: modules, files, packages by prefix. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  async: ["node:"],
  core: ["node:"],
  "core/skills": ["yaml", "yauzl", "yazl"],
  "core/oauth": ["jose"],
  "core/files": ["mime"],
  "core/actions": ["ajv"],
  "core/schedules": ["croner"],
  "pipeline/operations": ["core", "gen/proto", "@bufbuild/", "pipeline/services"],
  "pipeline/services": ["gen/proto", "@bufbuild/"],
  store: ["node:", "core", "adapters/storage/durable-file", "gen/prisma", "@prisma/", "sql-template-tag", "pg", "pg-boss"],
  pipeline: ["node:", "core", "gen/proto", "@bufbuild/"],
  rpc: ["core", "gen/proto", "type pipeline/handlers", "@bufbuild/"],
  http: ["node:", "pipeline", "core", "gen/proto", "@bufbuild/", "@connectrpc/", "fastify", "@fastify/", "jsonc-parser", "zod"],
  oauth: ["node:", "core", "pipeline", "http", "fastify", "@fastify/"],
  websites: ["node:", "core", "http"],
  "protocols/scim": [
    "node:",
    "core",
    "pipeline",
    "http",
    "pipeline/operations",
    "gen/proto",
    "@bufbuild/",
    "fastify",
    "scim2-parse-filter",
  ],
  "protocols/shared": [
    ...["node:", "pipeline", "core", "http", "gen/proto", "@bufbuild/", "packages/client/src/index"],
    "type @modelcontextprotocol/server",
  ],
  "protocols/mcp": ["node:", "pipeline/access", "pipeline/operations", ...doors, "@modelcontextprotocol/server", "zod"],
  "protocols/mcp/http": ["pipeline", "core", "protocols/shared", "http", "oauth/metadata", "gen/proto", "@bufbuild/", "fastify"],
  narration: ["protocols/shared/operations", "protocols/shared/turn"],
  "protocols/agui": ["node:", "core/accounts/caller", "core/failure", ...doors, "narration", "type @ag-ui/core", "zod"],
  "protocols/agui/http": ["pipeline", "core", "protocols/shared", "http", "gen/proto", "fastify"],
  "protocols/a2a": ["node:", "core", ...doors, "http/failure", "gen/proto", "@bufbuild/", "@connectrpc/connect", "jose"],
  "protocols/a2a/push": ["webhooks/post", "webhooks/record"],
  "protocols/a2a/http": ["pipeline", "core", "protocols/shared", "http", "gen/proto", "@bufbuild/", "fastify"],
  jobs: ["node:", "core", "pg-boss"],
  "jobs/all": ["runtime"],
  runtime: ["node:", "core", "jobs"],
  "runtime/agents/a2a": ["gen/proto", "@bufbuild/"],
  "runtime/agents/model": ["type config/models", "ai", "@ai-sdk/", "ajv", "undici"],
  "runtime/agents/model/tools": ["csv-parse", "htmlparser2", "unpdf"],
  "sign-in-pages": ["node:", "pipeline", "core", "http", "fastify", "mime", "openid-client"],
  "sign-in-pages/factors": ["@simplewebauthn/server", "uqr", "zod"],
  "sign-in-pages/consent": ["oauth/authorize"],
  "http/docs": ["node:", "core/clock", "core/log", "http/send-asset", "fastify", "mime"],
  "adapters/mail": ["node:", "core", "nodemailer"],
  "observability/metrics": ["node:", "core", "prom-client"],
  "observability/telemetry": ["node:", "core", "@opentelemetry/"],
  "adapters/pdf": ["node:", "core", "adapters/egress", "marked"],
  "adapters/transcription": ["node:", "core", "adapters/egress", "undici"],
  "adapters/storage": ["node:", "core", "flydrive", "@aws-sdk/"],
  "adapters/egress": ["node:", "core", "undici"],
  "runtime/exports": ["node:", "core", "yazl"],
  "adapters/connectors": ["core", "adapters/egress", "@modelcontextprotocol/client"],
  webhooks: ["node:", "core", "adapters/egress", "undici"],
  config: ["node:", "scripts/release/clone", "core/nearest", "core/tasks/fetch-policy", "core/tasks/profile", "smol-toml", "zod", "tldts"],
  backup: ["node:", "core", "store", "adapters/storage/durable-file", "zod"],
  "observability/log": ["core", "start/process/output", "pino"],
  "start/process": ["node:"],
};
/** Files that open and wire everything: they may import any module, and only each other import them. */
const wiring = [
  "serve",
  "start/platform",
  "modules",
  "start/installation",
  "start/encryption-key",
  "fault",
  "start/first-key",
  "start/listening",
];

const files = globSync("src/**/*.ts", { exclude: (name) => name.startsWith("src/gen") }).map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
}));
const roomOf = (path: string): string => path.replace(/^src\//, "").replace(/\.ts$/, "");
const isIn = (name: string, room: string): boolean => name === room || name.startsWith(/[:/]$/.test(room) ? room : `${room}/`);

/** `call/handlers`, `core/failure`, `node:fs`, each with `type ` in front when only types are imported. */
function importsOf({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/gm);
  return [...found].map(([, type = "", named, called]) => {
    const target = named ?? called ?? "";
    return type + (target.startsWith(".") ? roomOf(join(dirname(path), target)) : target);
  });
}

function strayImports(file: { readonly path: string; readonly text: string }): string[] {
  const rooms = Object.keys(allowed).filter((room) => isIn(roomOf(file.path), room));
  const entries = ["async", "type config", ...rooms, ...rooms.flatMap((room) => allowed[room] ?? [])];
  const fits = (target: string) => entries.some((entry) => isIn(target, entry) || isIn(target.replace(/^type /, ""), entry));
  return importsOf(file).filter((target) => !fits(target));
}

test("imports between the modules are one-way", () => {
  const housed = files.filter(({ path }) => !wiring.some((room) => isIn(roomOf(path), room)));
  expect(housed.flatMap((file) => strayImports(file).map((target) => `${file.path} imports ${target}`))).toEqual([]);
});

test("only the configuration reads the environment", () => {
  expect(files.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path)).toEqual(["src/config/config.ts"]);
});

test("only types are imported from internal paths of connect-es", () => {
  const strays = files.flatMap((file) => importsOf(file).filter((target) => target.startsWith("@connectrpc/connect/")));
  expect(strays).toEqual([]);
});

test("nothing in src exits the process", () => {
  expect(files.filter(({ text }) => /process\.exit/.test(text)).map(({ path }) => path)).toEqual([]);
});

test("no query asks Prisma for a unique row: such calls of one tick share a query, even in different transactions", () => {
  expect(files.filter(({ text }) => /\.findUnique(OrThrow)?\(/.test(text)).map(({ path }) => path)).toEqual([]);
});

test("only the reader of rows asserts a type through unknown", () => {
  expect(files.filter(({ text }) => / as unknown as /.test(text)).map(({ path }) => path)).toEqual(["src/store/table.ts"]);
});

test("row files declare no row types and read no rows without a shape", () => {
  const rows = files.filter(({ path }) => path.startsWith("src/store/rows/"));
  expect(rows.length).toBeGreaterThan(30);
  const written = rows.filter(({ text }) => /^(?:export )?interface \w*Row\b/m.test(text) || /\bquery</.test(text));
  expect(written.map(({ path }) => path)).toEqual([]);
});

const commandLine = globSync("cli/**/*.ts").map((path) => ({ path, text: readFileSync(path, "utf8") }));
const isOnServer = ({ path }: { readonly path: string }): boolean => path.startsWith("cli/server/");
const table = "cli/commands.ts";

test("commands that call the API import of this checkout the TypeScript client and the list of public addresses only", () => {
  const others = commandLine.filter((file) => !isOnServer(file) && file.path !== table);
  const targets = others.flatMap((file) => importsOf(file).map((target) => target.replace(/^type /, "")));
  expect(others.length).toBeGreaterThan(10);
  const fits = [
    "node:",
    "cli/",
    "packages/client/src/index",
    "packages/client/src/node",
    "config/version",
    "adapters/egress/public-address",
    "core/accounts",
    "pipeline/access",
    "protocols/shared/operations-over",
    "core/actions/kind",
    ...doors,
    "narration",
    "protocols/mcp/server",
    "protocols/mcp/server-parts",
    "protocols/mcp/tools/selection",
    "@agentclientprotocol/sdk",
    "@modelcontextprotocol/server/stdio",
    "@stricli/core",
    "ajv",
    "jq-wasm",
    "yaml",
    "yazl",
  ];
  expect(targets.filter((target) => !fits.some((entry) => isIn(target, entry)) || isIn(target, "cli/server"))).toEqual([]);
});

test("commands on the server, and no others, import src; the table of commands loads each only when it is given", () => {
  const atStart = /^import\s[^(]*?from "\.\/(server|commands)\//m;
  expect(commandLine.filter(({ path }) => path === table).map(({ text }) => atStart.test(text))).toEqual([false]);
  const strays = commandLine.filter(isOnServer).flatMap((file) => importsOf(file).filter((target) => isIn(target, "packages")));
  expect(strays).toEqual([]);
  expect(files.filter((file) => importsOf(file).some((target) => isIn(target, "cli") || target.includes("stricli")))).toEqual([]);
});

test("the console imports of the core only rules that need no Node", () => {
  const rules = [
    ...acts,
    "core/actions/kind",
    "core/failure",
    "core/json",
    "core/structured-output/structured-output",
    "core/schedules/timing",
    "core/schedules/local-time",
    "core/oauth/https-origin",
    "core/accounts/key-scopes",
  ];
  const inConsole = globSync("console/src/**/*.{ts,tsx}").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/from "(#core\/[^"]+|(?:\.\.\/)+src\/[^"]+)"/g)].map(([, target = ""]) => target),
  );
  expect(inConsole.length).toBeGreaterThan(0);
  expect(inConsole.filter((target) => !rules.some((rule) => target === `#${rule}.ts`))).toEqual([]);
});
