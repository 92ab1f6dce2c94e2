// The generated types of packages/client: `--write` writes them; without, exit code 1 names those that are stale.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { generatedFiles } from "./client/files.ts";
import { readSchema } from "./reference/schema.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "packages/client/src/generated");

/** The text as `biome format` leaves it, so that the file passes the check of the format. */
function formatted(name: string, text: string): string {
  const biome = join(root, "node_modules/.bin/biome");
  const { status, stdout, stderr } = spawnSync(biome, ["format", `--stdin-file-path=${join(folder, name)}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`biome cannot format ${name}: ${stderr}`);
  return stdout;
}

const files = [...generatedFiles(readSchema())].map(([name, text]) => [name, formatted(name, text)] as const);
if (process.argv.includes("--write")) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
} else {
  const current = (name: string): string => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  const stale = files.filter(([name, text]) => current(name) !== text).map(([name]) => `packages/client/src/generated/${name}`);
  if (stale.length > 0) console.error(`${stale.join(", ")}: stale; run \`node scripts/client-types.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}
