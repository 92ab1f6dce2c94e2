import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildOfClone } from "../release/clone.ts";
import { bundle, root } from "./bundle.ts";
import { licencesOf } from "./licences.ts";
import { manifestOf } from "./manifest.ts";

/** What the program reads while it runs, what an operator needs, and the licence. */
const copied = [
  "LICENSE",
  "CHANGELOG.md",
  "api",
  "deploy",
  "docs",
  "prisma/sqlite/migrations",
  "prisma/postgresql/migrations",
  "src/gen/console",
  "src/gen/tools",
  "src/sign-in-pages/factors/passkey.js",
];

/** Builds the package in a folder, which it replaces. */
export async function buildPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const { modules, imported } = await bundle(folder);
  const styles = globSync("src/**/*.css", { cwd: root });
  // Built by `npm run package`; a checkout without it leaves it out.
  const docs = existsSync(join(root, "src/gen/docs")) ? ["src/gen/docs"] : [];
  for (const name of [...copied, ...styles, ...docs])
    cpSync(join(root, name), join(folder, name), { recursive: true, dereference: true });
  for (const name of ["README.md", "bin"])
    cpSync(join(root, "scripts/package", name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, "lib/LICENSES.md"), licencesOf(modules));
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify(manifestOf(imported, await buildOfClone()), null, 2)}\n`,
  );
}

/** Packs a built package into a tarball. Returns its path. */
export function pack(folder: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  const words = ["pack", "--json", "--pack-destination", resolve(destination), "."];
  const [{ filename }] = JSON.parse(
    execFileSync("npm", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
  );
  return join(resolve(destination), filename);
}
