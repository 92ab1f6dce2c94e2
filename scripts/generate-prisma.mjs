// Generates the Prisma clients of both databases. It is plain JavaScript because setup
// runs it with the installed Node, which can be old.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const cli = createRequire(import.meta.url).resolve("prisma/build/index.js");

/**
 * Writes the clients into `sqlite` and `postgresql` of a folder, and the tables of both into `tables.ts`. It
 * needs no network: generation does not use the schema engine, but Prisma downloads it unless an executable
 * is configured; Node's executable serves for that.
 *
 * @param {string} folder the target folder; the store imports `src/gen/prisma`.
 */
export async function generatePrisma(folder = join(root, "src/gen/prisma")) {
  await Promise.all(["sqlite", "postgresql"].map((database) => generate(database, resolve(folder))));
}

/** Generates from a copy of the schema that names the folder, because the command has no option for it. */
async function generate(database, folder) {
  const copy = await mkdtemp(join(root, "node_modules", ".prisma-schema-"));
  try {
    await cp(join(root, "prisma/models"), join(copy, "models"), { recursive: true });
    const schema = await readFile(join(root, "prisma", database, "schema.prisma"), "utf8");
    const output = (path) => JSON.stringify(relative(copy, join(folder, path)));
    const withOutput = schema.replaceAll(
      /output( *)= "..\/..\/src\/gen\/prisma\/(.*)"/g,
      (_, space, path) => `output${space}= ${output(path)}`,
    );
    await writeFile(join(copy, "schema.prisma"), withOutput);
    const env = {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    };
    await promisify(execFile)(process.execPath, [cli, "generate", "--schema", copy, "--no-hints"], {
      cwd: root,
      env,
    });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await generatePrisma(process.argv[2]);
