// Makes a checkout ready to run: dependencies, Node 24 where the machine's is older, generated code.
// Plain JavaScript, because on a fresh clone it runs under whatever Node there is. It writes to
// standard error only: the scripts that run after it own standard output.
import { fileURLToPath } from "node:url";
import { generated } from "./setup/generated.mjs";
import { installed } from "./setup/installed.mjs";
import { takeTurn } from "./setup/turn.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const steps = [
  installed(root),
  generated(root, {
    name: "proto",
    inputs: ["proto", "buf.yaml", "buf.gen.yaml"],
    command: (folder) => ["buf", "generate", "--output", folder],
  }),
  generated(root, {
    name: "prisma",
    inputs: ["prisma/models", "prisma/sqlite/schema.prisma", "prisma/postgresql/schema.prisma", "scripts/generate-prisma.mjs"],
    command: (folder) => ["node", "scripts/generate-prisma.mjs", `${folder}/src/gen/prisma`],
  }),
];

/** Does what is not done yet; several processes of one checkout go one after the other. */
async function setUp() {
  if (steps.every((step) => step.isDone())) return;
  const endTurn = await takeTurn(root);
  try {
    // Asked again: whoever had the turn before may have done it all.
    for (const step of steps) if (!step.isDone()) await step.run();
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
