// What follows from the schema, the settings and the statements: modules of the clients, documents of `api/`, pages of `docs/reference`.
//   node scripts/generated.ts             exit code 1 names the files of git that are stale
//   node scripts/generated.ts --write     writes those of git, and all others
//   node scripts/generated.ts PART...     writes a part that git ignores, for the set-up: prints the files that it wrote, and was made of
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
const schema = readSchema();

type Files = ReadonlyMap<string, string>;
const parts: Readonly<Record<string, () => Promise<Files>>> = {
  typescript: async () => (await import("./client/outputs.ts")).typescriptModules(schema),
  python: async () => (await import("./client/outputs.ts")).pythonModules(schema),
  documents: async () => (await import("./documents/outputs.ts")).documents(schema),
  reference: async () => (await import("./reference/outputs.ts")).pages(schema),
};

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

/** The files that git has: the description of v2, what the README says is not built, and the table of rooms. */
async function kept(): Promise<Files> {
  const { v2Documents } = await import("./documents/outputs.ts");
  const { withLeftOut } = await import("./reference/compatibility.ts");
  const { withRooms } = await import("./architecture/table.ts");
  const [readme, page] = ["README.md", "docs/internals/architecture.md"];
  return new Map([...v2Documents(schema), [readme, withLeftOut(textOf(readme), root)], [page, withRooms(textOf(page))]]);
}

async function write(files: Promise<Files>): Promise<readonly string[]> {
  for (const [path, text] of await files) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return [...(await files).keys()];
}

async function writeParts(names: readonly string[]): Promise<void> {
  const written: string[] = [];
  for (const name of names) {
    const make = parts[name];
    if (make === undefined) throw new Error(`there is no part ${name}; the parts are ${Object.keys(parts).join(", ")}`);
    written.push(...(await write(make())));
  }
  // Modules of packages have their digest in the lock file, and generated ones that of the schema.
  const own = [...loaded].filter((path) => !/^(\.\.|node_modules|\.setup)\//.test(path));
  console.log(JSON.stringify([...own, ...written].toSorted()));
}

async function nameStale(): Promise<void> {
  const stale = [...(await kept())].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
  if (stale.length > 0) console.error(`${stale.join(", ")}: stale; run \`node scripts/generated.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}

const words = process.argv.slice(2);
if (words[0] === "--write") for (const make of [kept, ...Object.values(parts)]) await write(make());
else if (words.length > 0) await writeParts(words);
else await nameStale();
