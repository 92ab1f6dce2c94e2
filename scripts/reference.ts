// The pages of docs/reference that follow from the schema: `--write` writes them; without, exit code 1 names those that are stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compatibilityPage } from "./reference/compatibility.ts";
import { errorsPage, limitsPage } from "./reference/facts.ts";
import { missingOperations, referencePages } from "./reference/pages.ts";
import { readSchema } from "./reference/schema.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "docs/reference");
const schema = readSchema();
const examples = JSON.parse(readFileSync(join(root, "test/golden/v2-examples.json"), "utf8"));

const missing = missingOperations(schema);
if (missing.length > 0) throw new Error(`scripts/reference/pages.ts has no page for ${missing.map(({ rpc }) => rpc).join(", ")}`);
const pages = new Map([
  ...referencePages(schema, examples),
  ["errors.md", errorsPage()],
  ["limits.md", limitsPage()],
  ["compatibility.md", compatibilityPage(root)],
]);

if (process.argv.includes("--write")) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
} else {
  const current = (name: string): string => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  const stale = [...pages].filter(([name, text]) => current(name) !== text).map(([name]) => `docs/reference/${name}`);
  if (stale.length > 0) console.error(`${stale.join(", ")}: stale; run \`node scripts/reference.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}
