import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");

/** Compiles the program, and only the files that it imports, to JavaScript in a folder. `npm run check` checks the types. */
export function compile(folder: string): void {
  const tsc = join(root, "node_modules/.bin/tsc");
  execFileSync(tsc, ["-p", join(root, "scripts/package/tsconfig.json"), "--outDir", folder], { stdio: "inherit" });
  // `atp client` works in a checkout only.
  rmSync(join(folder, "scripts"), { recursive: true, force: true });
  for (const name of javaScriptIn(folder)) {
    const path = join(folder, name);
    writeFileSync(path, renameModules(readFileSync(path, "utf8")));
  }
}

/** tsc renames modules in imports only: not in addresses of workers, nor in the table of Prisma's clients. */
const renameModules = (code: string): string => code.replaceAll(/"(\.{1,2}\/[\w./-]+)\.ts"/g, '"$1.js"');

/** The npm packages that the JavaScript in a folder imports. */
export function importedPackages(folder: string): readonly string[] {
  const imported = javaScriptIn(folder).flatMap((name) => {
    const code = readFileSync(join(folder, name), "utf8");
    return [...code.matchAll(/^(?:import|export)\b(?:[^"';]*\bfrom)? ?"([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
      ([, one, other]) => one ?? other ?? "",
    );
  });
  const packages = imported.filter((name) => /^[@a-z]/.test(name) && !name.startsWith("node:"));
  return [...new Set(packages.map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/")))].toSorted();
}

const javaScriptIn = (folder: string): readonly string[] =>
  globSync("**/*.js", { cwd: folder, exclude: ["node_modules", "src/gen/console"] });
