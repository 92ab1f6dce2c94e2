// `npm run package [-- --out FOLDER]`: makes the npm package of the server (docs/operate/install.md), and prints its path.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, pack } from "./package/build.ts";
import { root } from "./package/bundle.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } });
const folder = mkdtempSync(join(root, ".setup/package-"));
try {
  await buildPackage(folder);
  console.log(pack(folder, values.out));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
