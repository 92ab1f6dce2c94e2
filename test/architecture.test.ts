import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

/** What each room may import beside itself and the type of the configuration: rooms, single files, packages by their beginning. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  core: ["node:"],
  "core/skills": ["yaml", "yauzl", "yazl"],
  "core/oauth": ["jose"],
  "core/files": ["mime"],
  "core/structured-output": ["ajv"],
  "core/actions": ["ajv"],
  operations: ["core", "gen/proto", "@bufbuild/", "services"],
  services: ["gen/proto", "@bufbuild/"],
  store: ["node:", "core", "gen/prisma", "@prisma/", "pg", "pg-boss"],
  call: ["node:", "operations", "core", "gen/proto", "@bufbuild/"],
  rpc: ["core", "gen/proto", "type call/handlers", "@bufbuild/"],
  http: [
    "node:",
    "call",
    "operations",
    "services",
    "core",
    "gen/proto",
    "@bufbuild/",
    "@connectrpc/",
    "fastify",
    "@fastify/",
    "jsonc-parser",
    "zod",
  ],
  oauth: ["node:", "core", "call", "http", "fastify", "@fastify/"],
  sites: ["node:", "core", "http"],
  scim: ["node:", "core", "call", "http", "operations", "gen/proto", "@bufbuild/", "fastify", "scim2-parse-filter"],
  jobs: ["node:", "core", "pg-boss"],
  runtime: ["node:", "core", "jobs"],
  "runtime/agents/model": ["type config/models", "ai", "@ai-sdk/", "ajv", "undici"],
  "runtime/agents/model/tools": ["csv-parse", "htmlparser2", "unpdf"],
  console: ["node:", "call", "core", "http", "fastify", "openid-client"],
  "console/consent": ["oauth/authorize"],
  mail: ["node:", "core", "nodemailer"],
  storage: ["node:", "core", "flydrive", "@aws-sdk/"],
  egress: ["node:", "core", "undici"],
  exporting: ["node:", "core", "yazl"],
  mcp: ["core", "egress", "@modelcontextprotocol/sdk/"],
  delivery: ["node:", "core", "egress", "undici"],
  config: ["node:", "core/nearest", "core/tasks/profile", "zod", "tldts"],
  log: ["core", "pino"],
};
/** These open and wire everything, may import whatever there is, and are imported by nobody but each other. */
const wiring = ["main", "platform", "wiring", "chores", "installation", "welcome", "encryption-key", "fault", "first-key", "listening"];

const files = globSync("src/**/*.ts", { exclude: (name) => name.startsWith("src/gen") }).map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
}));
const roomOf = (path: string): string => path.replace(/^src\//, "").replace(/\.ts$/, "");
const isIn = (name: string, room: string): boolean => name === room || name.startsWith(/[:/]$/.test(room) ? room : `${room}/`);

/** `call/handlers`, `core/failure`, `node:fs`, each with `type ` before it where only types come from there. */
function importsOf({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/gm);
  return [...found].map(([, type = "", named, called]) => {
    const target = named ?? called ?? "";
    return type + (target.startsWith(".") ? roomOf(join(dirname(path), target)) : target);
  });
}

function strayImports(file: { readonly path: string; readonly text: string }): string[] {
  const rooms = Object.keys(allowed).filter((room) => isIn(roomOf(file.path), room));
  const entries = ["type config", ...rooms, ...rooms.flatMap((room) => allowed[room] ?? [])];
  const fits = (target: string) => entries.some((entry) => isIn(target, entry) || isIn(target.replace(/^type /, ""), entry));
  return importsOf(file).filter((target) => !fits(target));
}

test("imports go one way between the rooms", () => {
  const housed = files.filter(({ path }) => !wiring.some((room) => isIn(roomOf(path), room)));
  expect(housed.flatMap((file) => strayImports(file).map((target) => `${file.path} imports ${target}`))).toEqual([]);
});

test("only the configuration reads the environment", () => {
  expect(files.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path)).toEqual(["src/config.ts"]);
});

test("only main ends the process", () => {
  expect(files.filter(({ text }) => /process\.exit/.test(text)).map(({ path }) => path)).toEqual(["src/main.ts"]);
});

test("nothing asks Prisma for a unique row: such calls of one tick share a query, whoever's transaction they belong to", () => {
  expect(files.filter(({ text }) => /\.findUnique(OrThrow)?\(/.test(text)).map(({ path }) => path)).toEqual([]);
});
