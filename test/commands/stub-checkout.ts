import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";

/** A run of the setup script. */
export interface SetupRun {
  readonly pid: number;
  kill(): void;
  /** Resolves once standard error contains the text. */
  says(pattern: RegExp): Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

/** A checkout with the real setup scripts, and with stand-ins for npm and the generators. */
export interface StubCheckout extends Disposable {
  path(name: string): string;
  read(name: string): string;
  write(name: string, content: string): void;
  remove(name: string): void;
  /** The tools that ran so far, in order: generators run at the same time. */
  tools(): string[];
  /** The words of npm's last run. */
  npmWords(): string[];
  /**
   * @param hasFastTimers whether its intervals are a thousand times shorter.
   * @param words its arguments.
   */
  setUp(options?: { readonly hasFastTimers?: boolean; readonly words?: readonly string[] }): SetupRun;
}

/**
 * A tool records its run, waits while a file `hold` exists, fails if a
 * file `broken-NAME` exists, and creates a file that quotes its input.
 */
const stub = `
const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname } = require("node:path");
exports.runStub = (name, input, made) => {
  appendFileSync("tools.log", name + "\\n");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync("hold")) Atomics.wait(pause, 0, 0, 5);
  console.log(name + " talks");
  if (existsSync("broken-" + name)) process.exit(7);
  mkdirSync(dirname(made), { recursive: true });
  writeFileSync(made, "of " + readFileSync(input, "utf8"));
};
`;

const npm = `require("node:fs").writeFileSync("npm-words.json", JSON.stringify(process.argv.slice(2)));
require("./stub.cjs").runStub("npm", "package-lock.json", "node_modules/dependency.js");`;
const buf = `#!/usr/bin/env node
const [name, folder] = process.argv.includes("--template") ? ["buf-browser", "browser-proto"] : ["buf", "proto"];
require("../../stub.cjs").runStub(name, "proto/a/a.proto", process.argv.at(-1) + "/src/gen/" + folder + "/a.ts");`;
const vite = `#!/usr/bin/env node
require("../../stub.cjs").runStub("vite", "console/index.html", process.argv.at(-1).replace("../", "") + "/index.html");`;
const prisma = `import { createRequire } from "node:module";
createRequire(import.meta.url)("../stub.cjs").runStub("prisma", "prisma/models/tasks.prisma", process.argv.at(-1) + "/sqlite/client.ts");`;
const tools = prisma
  .replace("prisma", "tools")
  .replace("prisma/models/tasks.prisma", "api/openapi.json")
  .replace("sqlite/client.ts", "a.json");

const texts = `import { createRequire } from "node:module";
createRequire(import.meta.url)("../stub.cjs").runStub("texts", "proto/a/a.proto", "packages/client/a.ts");
console.log(JSON.stringify(["packages/client/a.ts", "src/pipeline/a.ts"]));`;

const content: Readonly<Record<string, string>> = {
  "package.json": "{ }",
  "package-lock.json": "lock 1",
  ".npmrc": "",
  "buf.yaml": "",
  "buf.gen.yaml": "",
  "buf.gen.console.yaml": "",
  "console/index.html": "page 1",
  "src/core/actions/a.ts": "",
  "src/core/structured-output/a.ts": "",
  "src/core/schedules/a.ts": "",
  "src/core/oauth/https-origin.ts": "",
  "src/core/accounts/key-scopes.ts": "",
  "src/core/failure.ts": "",
  "src/core/json.ts": "",
  "docs/guides/webhooks.md": "",
  "proto/a/a.proto": "proto 1",
  "prisma/models/tasks.prisma": "models 1",
  "api/openapi.json": "operations 1",
  "prisma/sqlite/schema.prisma": "",
  "prisma/postgresql/schema.prisma": "",
  "stub.cjs": stub,
  "npm-cli.js": npm,
  "node_modules/.bin/buf": buf,
  "node_modules/.bin/vite": vite,
  "scripts/generate-prisma.mjs": prisma,
  "scripts/generate-tables.mjs": "",
  "scripts/generate-tools.mjs": tools,
  "scripts/generated.ts": texts,
  "scripts/documents/sources/a.yaml": "",
  "docs/reference/compatibility/a.yaml": "",
  "docs/spec/README.md": "",
  "test/golden/v2-examples.json": "",
  "test/golden/webhook-bodies.txt": "",
  "packages/python/src/agent_task_platform/_async/a.py": "",
  "src/pipeline/a.ts": "",
  "tools.log": "",
};

/** Creates one in a temporary folder; disposing removes it. */
export function stubCheckout(): StubCheckout {
  const root = mkdtempSync(join(tmpdir(), "stub-checkout-"));
  const checkout = checkoutAt(root);
  for (const [name, text] of Object.entries(content)) checkout.write(name, text);
  for (const tool of ["buf", "vite"]) chmodSync(checkout.path(`node_modules/.bin/${tool}`), 0o755);
  const scripts = resolve(import.meta.dirname, "../../scripts");
  for (const name of ["setup.mjs", "setup"])
    cpSync(join(scripts, name), checkout.path(`scripts/${name}`), { recursive: true });
  return checkout;
}

/** A copy of a checkout as it is now. */
export function copyOf(checkout: StubCheckout): StubCheckout {
  const root = mkdtempSync(join(tmpdir(), "stub-checkout-"));
  cpSync(checkout.path("."), root, { recursive: true, verbatimSymlinks: true });
  return checkoutAt(root);
}

function checkoutAt(root: string): StubCheckout {
  const path = (name: string) => join(root, name);
  const read = (name: string) => readFileSync(path(name), "utf8");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  };
  return {
    path,
    read,
    write,
    remove: (name) => rmSync(path(name), { recursive: true }),
    tools: () => read("tools.log").split("\n").slice(0, -1),
    npmWords: () => JSON.parse(read("npm-words.json")),
    setUp: ({ hasFastTimers = false, words = [] } = {}) =>
      runSetup(root, hasFastTimers ? ["--import", fastTimers] : [], words),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

const fastTimers = `data:text/javascript,${encodeURIComponent("const real = setInterval; globalThis.setInterval = (work, ms) => real(work, ms / 1000);")}`;

function runSetup(root: string, flags: readonly string[], words: readonly string[]): SetupRun {
  const env = { ...process.env, npm_execpath: join(root, "npm-cli.js") };
  const child = spawn(process.execPath, [...flags, "scripts/setup.mjs", ...words], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  if (child.pid === undefined) throw new Error("the setup script did not start");
  const { pid } = child;
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([[code], out, err]) => ({
      code,
      out,
      err,
    }),
  );
  // The process group is killed: a tool of the script must not survive it.
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      let said = "";
      child.stderr.on("data", (chunk) => {
        said += chunk;
        if (pattern.test(said)) resolve();
      });
    });
  return { pid, says, kill: () => process.kill(-pid, "SIGKILL"), ended };
}
