// Generates the Prisma clients of both databases. Plain JavaScript, for it runs at
// setup, under whatever Node there is.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const cli = createRequire(import.meta.url).resolve("prisma/build/index.js");

/**
 * Writes the clients into `sqlite` and `postgresql` of a folder. Nothing is asked of
 * the network: generation needs no schema engine, but looks for one unless it is told
 * of an executable file, and Node's own is at hand.
 *
 * @param {string} folder where the clients go; `src/gen/prisma` is what the store imports.
 */
export async function generatePrisma(folder = join(root, "src/gen/prisma")) {
  await Promise.all(["sqlite", "postgresql"].map((database) => generate(database, resolve(folder, database))));
}

/** The schema goes through a copy with the output's folder in it, since the command takes none. */
async function generate(database, output) {
  const copy = await mkdtemp(join(root, "node_modules", ".prisma-schema-"));
  try {
    await cp(join(root, "prisma/models"), join(copy, "models"), { recursive: true });
    const schema = await readFile(join(root, "prisma", database, "schema.prisma"), "utf8");
    await writeFile(join(copy, "schema.prisma"), schema.replace(/output( *)= .*/, `output$1= ${JSON.stringify(relative(copy, output))}`));
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: "1", CHECKPOINT_DISABLE: "1" };
    await promisify(execFile)(process.execPath, [cli, "generate", "--schema", copy, "--no-hints"], { cwd: root, env });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await generatePrisma(process.argv[2]);
