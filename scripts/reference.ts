// The pages of docs/reference that follow from the schema, what the README says is not built, and the table of rooms: `--write` writes them; without, exit code 1 names those that are stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withRooms } from "./architecture/table.ts";
import { compatibilityPage, withLeftOut } from "./reference/compatibility.ts";
import { errorsPage, limitsPage } from "./reference/facts.ts";
import { missingOperations, referencePages } from "./reference/pages.ts";
import { readSchema } from "./reference/schema.ts";

const root = resolve(import.meta.dirname, "..");
const schema = readSchema();
const examples = JSON.parse(readFileSync(join(root, "test/golden/v2-examples.json"), "utf8"));

const missing = missingOperations(schema);
if (missing.length > 0) throw new Error(`scripts/reference/pages.ts has no page for ${missing.map(({ rpc }) => rpc).join(", ")}`);
const text = (path: string): string => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : "");
const pages = new Map(
  [
    ...referencePages(schema, examples),
    ["errors.md", errorsPage()] as const,
    ["limits.md", limitsPage()] as const,
    ["compatibility.md", compatibilityPage(root)] as const,
  ].map(([name, page]) => [`docs/reference/${name}`, page]),
)
  .set("README.md", withLeftOut(text("README.md"), root))
  .set("docs/internals/architecture.md", withRooms(text("docs/internals/architecture.md")));

if (process.argv.includes("--write")) {
  mkdirSync(join(root, "docs/reference"), { recursive: true });
  for (const [path, page] of pages) writeFileSync(join(root, path), page);
} else {
  const stale = [...pages].filter(([path, page]) => text(path) !== page).map(([path]) => path);
  if (stale.length > 0) console.error(`${stale.join(", ")}: stale; run \`node scripts/reference.ts --write\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
}
