// The generated parts of packages/client and packages/python: `--write` writes them; without, exit code 1 names those that are stale.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { generatedFiles } from "./client/files.ts";
import { pythonFiles } from "./client/python.ts";
import { synchronous, writtenTwice } from "./client/python-sync.ts";
import { readSchema } from "./reference/schema.ts";

const root = resolve(import.meta.dirname, "..");
const [typescript, python] = ["packages/client/src/generated", "packages/python/src/agent_task_platform"];

/** The text as `biome format` leaves it, so that the file passes the check of the format. */
function formatted(name: string, text: string): string {
  const biome = join(root, "node_modules/.bin/biome");
  const { status, stdout, stderr } = spawnSync(biome, ["format", `--stdin-file-path=${join(root, typescript, name)}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`biome cannot format ${name}: ${stderr}`);
  return stdout;
}

/** The modules of `_sync`, made from those of `_async`, of which some are generated too. */
function synchronousFiles(generated: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const written = readdirSync(join(root, python, "_async")).filter((name) => name.endsWith(".py"));
  const names = new Set([...written, ...[...generated.keys()].flatMap((path) => /^_async\/(.+)/.exec(path)?.[1] ?? [])]);
  return [...names]
    .filter((name) => !writtenTwice.has(name))
    .map((name) => {
      const source = generated.get(`_async/${name}`) ?? readFileSync(join(root, python, "_async", name), "utf8");
      return [`${python}/_sync/${name}`, synchronous(name, source)] as const;
    });
}

const schema = readSchema();
const pythonModules = pythonFiles(schema);
const files = [
  ...[...generatedFiles(schema)].map(([name, text]) => [`${typescript}/${name}`, formatted(name, text)] as const),
  ...[...pythonModules].map(([name, text]) => [`${python}/${name}`, text] as const),
  ...synchronousFiles(pythonModules),
];
if (process.argv.includes("--write")) {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
} else {
  const current = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "");
  const stale = files.filter(([path, text]) => current(path) !== text).map(([path]) => path);
  if (stale.length > 0) console.error(`${stale.join(", ")}: stale; run \`node scripts/client-types.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}
