// Prepares a checkout: dependencies, Node 24 if the machine's Node is older, generated code.
// It is plain JavaScript because on a new clone it runs with the installed Node. It writes to
// standard error only: standard output belongs to the scripts that run after it.
//
// `--tests` also installs what only tests and checks need. `--docs` also builds the site of the
// documentation. `--code` only generates code from the schemas, for `npm run dev`.
import { fileURLToPath } from "node:url";
import { generated } from "./setup/generated.mjs";
import { installed } from "./setup/installed.mjs";
import { takeTurn } from "./setup/turn.mjs";
import { written } from "./setup/written.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Rules of the core that the console checks with too (docs/internals/console.md). */
const sharedRules = [
  "src/core/actions",
  "src/core/structured-output",
  "src/core/schedules",
  "src/core/oauth/https-origin.ts",
  "src/core/accounts/key-scopes.ts",
  "src/core/failure.ts",
  "src/core/json.ts",
];
/** The page of the docs whose code the console shows. */
const shownDocs = ["docs/guides/webhooks.md"];
const proto = generated(root, {
  name: "proto",
  inputs: ["proto", "buf.yaml", "buf.gen.yaml"],
  command: (folder) => ["buf", "generate", "--output", folder],
});
/** Files that follow from the schema, and that git ignores. */
const texts = written(root, {
  name: "texts",
  inputs: [
    ...[
      "proto",
      "buf.yaml",
      "package.json",
      "scripts/generated.ts",
      "scripts/documents/sources",
      "docs/reference/compatibility",
    ],
    ...[
      "docs/spec",
      "test/golden/v2-examples.json",
      "test/golden/webhook-bodies.txt",
      "packages/python/src/agent_task_platform/_async",
    ],
  ],
  command: ["node", "scripts/generated.ts", "--ignored"],
});
const prisma = generated(root, {
  name: "prisma",
  inputs: [
    "prisma/models",
    "prisma/sqlite/schema.prisma",
    "prisma/postgresql/schema.prisma",
    "scripts/generate-prisma.mjs",
    "scripts/generate-tables.mjs",
  ],
  command: (folder) => ["node", "scripts/generate-prisma.mjs", `${folder}/src/gen/prisma`],
});
const tools = generated(root, {
  name: "tools",
  inputs: ["api/openapi.json", "scripts/generate-tools.mjs"],
  command: (folder) => ["node", "scripts/generate-tools.mjs", `${folder}/src/gen/tools`],
});
const browserProto = generated(root, {
  name: "browser-proto",
  inputs: ["proto", "buf.yaml", "buf.gen.console.yaml"],
  command: (folder) => ["buf", "generate", "--template", "buf.gen.console.yaml", "--output", folder],
});
const consoleBuild = generated(root, {
  name: "console",
  inputs: ["console", "proto", "buf.yaml", "buf.gen.console.yaml", ...sharedRules, ...shownDocs],
  command: (folder) => [
    "vite",
    "build",
    "--config",
    "console/vite.config.ts",
    "--outDir",
    `../${folder}/src/gen/console`,
  ],
});
/** Chains of steps: those of a chain read what the one before wrote, and chains run at the same time. */
const codeChains = [[proto, browserProto, texts], [prisma], [tools]]; // An error in a .proto is printed once.
const allChains = [[proto, texts], [browserProto, consoleBuild], [prisma], [tools]];

const builtDocs = generated(root, {
  name: "docs",
  inputs: [
    "docs",
    ...[
      "site/.vitepress/config.ts",
      "site/.vitepress/markdown.ts",
      "site/.vitepress/theme",
      "site/.vitepress/unlink-sources.ts",
    ],
    ...[
      "site/build.ts",
      "site/diagrams.ts",
      "site/explorer",
      "site/explorer.ts",
      "site/home.md",
      "site/navigation.ts",
      "site/noscript.css",
      "site/package-lock.json",
    ],
  ],
  command: (folder) => ["node", "site/build.ts", "--server", `${folder}/src/gen/docs`],
});
const isCodeOnly = process.argv.includes("--code");
/** Sequential stages of chains. */
const stages = [
  ...(isCodeOnly
    ? [codeChains]
    : [[[installed(root, { withTests: process.argv.includes("--tests") })]], allChains]),
  ...(process.argv.includes("--docs") ? [[[builtDocs]]] : []),
];

async function runChain(steps) {
  for (const step of steps) if (!step.isDone()) await step.run();
}

/** Runs the steps that are not done; several processes of one checkout run sequentially. */
async function setUp() {
  if (stages.flat(2).every((step) => step.isDone())) return;
  const endTurn = await takeTurn(root);
  try {
    // Checked again: the process that had the turn before may have done the step.
    for (const chains of stages) {
      const ends = await Promise.allSettled(chains.map(runChain));
      const failed = ends.find(({ status }) => status === "rejected");
      if (failed) throw failed.reason;
    }
  } finally {
    endTurn();
  }
}

try {
  await setUp();
} catch (error) {
  process.stderr.write(`setup: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
