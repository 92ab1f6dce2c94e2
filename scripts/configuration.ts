// `docs/configuration.md` from the table of variables: `--write` writes it; without, exit code 1 says that it is stale.
import { readFile, writeFile } from "node:fs/promises";
import { configurationPage } from "../src/config/document.ts";

const page = new URL("../docs/configuration.md", import.meta.url);

if (process.argv.includes("--write")) await writeFile(page, configurationPage());
else if ((await readFile(page, "utf8").catch(() => "")) !== configurationPage()) {
  console.error("docs/configuration.md is stale: run `node scripts/configuration.ts --write`");
  process.exitCode = 1;
}
