import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const source = join(root, "packages/client");

/**
 * Builds the package into a folder: JavaScript and types as ES modules and as CommonJS. It replaces `dist`
 * there.
 */
export function buildClient(folder: string): void {
  const dist = join(folder, "dist");
  rmSync(dist, { recursive: true, force: true });
  for (const [config, form] of [
    ["tsconfig.json", "esm"],
    ["tsconfig.cjs.json", "cjs"],
  ] as const) {
    execFileSync(
      join(root, "node_modules/.bin/tsc"),
      ["-p", join(source, config), "--outDir", join(dist, form)],
      { stdio: "inherit" },
    );
    rewriteSpecifiers(join(dist, form));
  }
  writeFileSync(join(dist, "cjs/package.json"), '{ "type": "commonjs" }\n');
  if (resolve(folder) === source) return;
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(source, "README.md"), join(folder, "README.md"));
  // Its script builds the package of a clone.
  const { scripts: _, ...manifest } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** tsc writes `.js` into JavaScript, and leaves `.ts` in declarations. */
function rewriteSpecifiers(folder: string): void {
  for (const name of globSync("**/*.d.ts", { cwd: folder })) {
    const path = join(folder, name);
    writeFileSync(
      path,
      readFileSync(path, "utf8").replaceAll(/(from\s+|import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'),
    );
  }
}
