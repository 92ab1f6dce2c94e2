import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const site = import.meta.dirname;
/**
 * The package whose built file is the explorer. It is fetched without what it needs to be built again (250
 * MB), so it is not a dependency of package.json: version and digest are here.
 */
const release = {
  name: "@scalar/api-reference@1.76.0",
  integrity:
    "sha512-pjqwnzmA9YK3ZX+IZSICMsywm4qI6HLSngR2py9H6TvFApHHuJjkTAd+gFJfnqJDzJuro8k7ji6JCtJ2U+Byng==",
} as const;
const built = "package/dist/browser/standalone.js";
const kept = join(site, "node_modules/.explorer", release.name.replaceAll("/", "-"));

/**
 * Writes the page `api.html` and its files into a site that a server serves.
 *
 * @throws Error if the package cannot be fetched, or is another one.
 */
export function writeExplorer(folder: string): void {
  if (!existsSync(kept)) fetchPackage();
  const files = join(folder, "explorer");
  cpSync(join(site, "explorer/api.html"), join(folder, "api.html"));
  for (const name of ["LICENSE.txt", "page.css", "start.js"])
    cpSync(join(site, "explorer", name), join(files, name));
  cpSync(join(kept, "standalone.js"), join(files, "standalone.js"));
}

function fetchPackage(): void {
  mkdirSync(join(site, "node_modules"), { recursive: true });
  const work = mkdtempSync(join(site, "node_modules/.explorer-"));
  try {
    run("npm", ["pack", release.name, "--silent", "--pack-destination", work], site);
    const [archive = ""] = readdirSync(work);
    const digest = createHash("sha512")
      .update(readFileSync(join(work, archive)))
      .digest("base64");
    if (`sha512-${digest}` !== release.integrity)
      throw new Error(`${release.name}: the registry's package has another digest`);
    run("tar", ["-xzf", archive, built], work);
    cpSync(join(work, built), join(kept, "standalone.js"));
  } finally {
    rmSync(work, { recursive: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`${program} ${args[0]}: ${stderr ?? ""}`);
}
