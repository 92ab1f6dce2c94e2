// Generates `docs/reference/configuration.md` from the settings: `--write` writes it; without `--write`, the exit code is 1 if it is stale.
import { readFile, writeFile } from "node:fs/promises";
import { configurationPage } from "./configuration-page.ts";

const page = new URL("../docs/reference/configuration.md", import.meta.url);

if (process.argv.includes("--write")) await writeFile(page, configurationPage());
else if ((await readFile(page, "utf8").catch(() => "")) !== configurationPage()) {
  console.error("docs/reference/configuration.md is stale: run `node scripts/configuration.ts --write`");
  process.exitCode = 1;
}
