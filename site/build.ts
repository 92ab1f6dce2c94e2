import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { writeExplorer } from "./explorer.ts";

const usage = `Builds docs/ as a site.

  npm run site -- [--out FOLDER] [--base PATH] [--source URL]
  node site/build.ts --server FOLDER

  --out FOLDER      where the site is written (site/dist); the folders of other versions in it remain
  --base PATH       the path at which FOLDER is served (/)
  --source URL      the address of the repository's files, for links into the source; without it they are plain text
  --types           also checks the types of the site's files
  --server FOLDER   writes the site that the server serves at /docs/: one version, compressed, with the digests of its scripts, and
                    with the explorer of the API
`;

const site = import.meta.dirname;
const root = dirname(site);
const pages = join(site, "pages");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Installs the packages of the site, if they are not those of its lock file. */
function install(): void {
  const installed = join(site, "node_modules/.package-lock.json");
  const locked = join(site, "package-lock.json");
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(locked).mtimeMs)
    run("npm", "ci", "--loglevel=error");
}

/** Builds one version into a folder, which it replaces. */
async function build(folder: string, settings: Readonly<Record<string, string>>): Promise<void> {
  install();
  await writePages();
  rmSync(folder, { recursive: true, force: true });
  Object.assign(process.env, { SITE_VERSION: version, SITE_OUT: folder, ...settings });
  run(join(site, "node_modules/.bin/vitepress"), "build");
  cpSync(join(site, "noscript.css"), join(folder, "noscript.css"));
}

/** The site of one version is a folder; `versions.json` next to it lists all. */
async function buildVersion(out: string, base: string, sourceUrl: string): Promise<void> {
  await build(join(out, version), { SITE_BASE: `${base}${version}/`, SITE_SOURCE_URL: sourceUrl });
  writeVersions(out, base);
}

/** The site at `/docs/` of a server (src/http/docs/site.ts). */
async function buildForServer(folder: string): Promise<void> {
  await build(folder, { SITE_BASE: "/docs/", SITE_CLEAN_URLS: "1", SITE_EXPLORER: "1" });
  writeExplorer(folder);
  const scripts = new Set<string>();
  for (const name of globSync("**/*.{html,js,css,json}", { cwd: folder })) {
    const bytes = readFileSync(join(folder, name));
    if (name.endsWith(".html")) for (const source of inlineScripts(bytes.toString())) scripts.add(source);
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(join(folder, "scripts.json"), JSON.stringify([...scripts].sort()));
}

/** The digests of a page's own scripts, as a security policy names them. */
const inlineScripts = (html: string): readonly string[] =>
  [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, source = ""]) => `'sha256-${createHash("sha256").update(source).digest("base64")}'`,
  );

/**
 * Copies docs/ to `site/pages`, with the home page, with the groups of code as VitePress writes them, and
 * with pictures.
 */
async function writePages(): Promise<void> {
  // It needs a package that `install` brings.
  const { withDiagrams } = await import("./diagrams.ts");
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, "docs"), pages, { recursive: true });
  cpSync(join(site, "home.md"), join(pages, "index.md"));
  for (const name of globSync("**/*.md", { cwd: pages })) {
    const path = join(pages, name);
    writeFileSync(path, withDiagrams(withTabs(readFileSync(path, "utf8"))));
  }
}

/**
 * Blocks of code between `<!-- tabs -->` and `<!-- /tabs -->` say the same in several languages: ```sh curl`
 * names its tab.
 */
const withTabs = (page: string): string =>
  page.replaceAll(/^<!-- tabs -->$([\s\S]*?)^<!-- \/tabs -->$/gm, (_, blocks: string) =>
    ["::: code-group", blocks.replaceAll(/^```(\w+) (.+)$/gm, "```$1 [$2]"), ":::"].join("\n"),
  );

function writeVersions(out: string, base: string): void {
  const versions = readdirSync(out, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
  versions.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  writeFileSync(join(out, "versions.json"), `${JSON.stringify(versions)}\n`);
  const newest = `${base}${versions[0]}/`;
  writeFileSync(
    join(out, "index.html"),
    `<!doctype html><title>Agent Task Platform</title><meta http-equiv="refresh" content="0; url=${newest}"><a href="${newest}">Documentation</a>\n`,
  );
}

function run(program: string, ...args: readonly string[]): void {
  const { status } = spawnSync(program, args, { cwd: site, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

const { values } = parseArgs({
  options: {
    ...{ out: { type: "string", default: join(site, "dist") }, base: { type: "string", default: "/" } },
    ...{
      source: { type: "string", default: "" },
      server: { type: "string" },
      types: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  },
});
if (values.help) process.stdout.write(usage);
else if (values.server !== undefined) await buildForServer(resolve(values.server));
else await buildVersion(resolve(values.out), values.base, values.source);
if (values.types) run(join(site, "../node_modules/.bin/tsc"), "--noEmit", "-p", "tsconfig.json");
