import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile, importedPackages, root } from "./compile.ts";
import { bundled, bundledManifest, manifestOf } from "./manifest.ts";

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
  "src/console/factors/passkey.js",
];

/** Builds the package in a folder, which it replaces. */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  compile(folder);
  for (const name of [...copied, ...globSync("src/**/*.css", { cwd: root })])
    cpSync(join(root, name), join(folder, name), { recursive: true, dereference: true });
  for (const name of ["README.md", "bin"]) cpSync(join(root, "scripts/package", name), join(folder, name), { recursive: true });
  bundleAdapter(folder);
  writeJson(join(folder, "package.json"), manifestOf(importedPackages(folder)));
}

function bundleAdapter(folder: string): void {
  const source = join(root, "node_modules", bundled);
  const target = join(folder, "node_modules", bundled);
  for (const name of ["LICENSE", "README.md", "dist"]) cpSync(join(source, name), join(target, name), { recursive: true });
  writeJson(join(target, "package.json"), bundledManifest(source));
}

const writeJson = (path: string, value: object): void => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** Packs a built package into a tarball. Returns its path. */
export function pack(folder: string, destination: string): string {
  mkdirSync(destination, { recursive: true });
  const words = ["pack", "--json", "--pack-destination", resolve(destination), "."];
  const [{ filename }] = JSON.parse(execFileSync("npm", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
  return join(resolve(destination), filename);
}
