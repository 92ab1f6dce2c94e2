// `npm run package [-- --out FOLDER]`: makes the npm package of the server (docs/operate/install.md), and
// prints its path.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPackage, pack } from "./package/build.ts";
import { root } from "./package/bundle.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } });
execFileSync(process.execPath, ["scripts/setup.mjs", "--tests", "--docs"], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
});
const folder = mkdtempSync(join(root, ".setup/package-"));
try {
  await buildPackage(folder);
  console.log(pack(folder, values.out));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
