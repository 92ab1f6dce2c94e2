// What follows from the schema, the settings and the statements: modules of the clients, documents of `api/`, pages of `docs/reference`.
//   node scripts/generated.ts             exit code 1 names the files of git that are stale
//   node scripts/generated.ts --write     writes those of git, and all others
//   node scripts/generated.ts --ignored   writes those that git ignores, for the set-up, and prints them with the modules that made them
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(import.meta.dirname, "..");
/** The modules of the project that were loaded. */
const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) loaded.add(relative(root, fileURLToPath(url)));
    return next(url, context);
  },
});

const { readSchema } = await import("./reference/schema.ts");
const { pythonModules, typescriptModules } = await import("./client/outputs.ts");
const { documents, v2Documents } = await import("./documents/outputs.ts");
const { pages } = await import("./reference/outputs.ts");
const schema = readSchema();

type Files = ReadonlyMap<string, string>;
/** The files that git ignores. */
const ignored = (): Files =>
  new Map([typescriptModules, pythonModules, documents, pages].flatMap((make) => [...make(schema)]));

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

/** The files that git has: the description of v2, what the README says is not built, and the table of rooms. */
async function kept(): Promise<Files> {
  const { withLeftOut } = await import("./reference/compatibility.ts");
  const { withRooms } = await import("./architecture/table.ts");
  const [readme, page] = ["README.md", "docs/internals/architecture.md"];
  return new Map([
    ...v2Documents(schema),
    [readme, withLeftOut(textOf(readme), root)],
    [page, withRooms(textOf(page))],
  ]);
}

function write(files: Files): void {
  for (const [path, text] of files) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function writeIgnored(): void {
  const files = ignored();
  write(files);
  // Modules of packages have their digest in the lock file, and generated ones that of the schema.
  const own = [...loaded].filter((path) => !/^(\.\.|node_modules|\.setup)\//.test(path));
  console.log(JSON.stringify([...new Set([...own, ...files.keys()])].toSorted()));
}

async function nameStale(): Promise<void> {
  const stale = [...(await kept())].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
  if (stale.length > 0)
    console.error(`${stale.join(", ")}: stale; run \`node scripts/generated.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}

if (process.argv.includes("--write")) {
  write(await kept());
  write(ignored());
} else if (process.argv.includes("--ignored")) writeIgnored();
else await nameStale();
