import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const usage = `Builds docs/ as a static site.

  npm run site -- [--out FOLDER] [--base PATH] [--source URL]

  --out FOLDER   where the site is written (site/dist); the folders of other versions in it remain
  --base PATH    the path at which FOLDER is served (/)
  --source URL   the address of the repository's files, for links into the source; without it they are plain text
`;

const site = import.meta.dirname;
const root = dirname(site);
const pages = join(site, "pages");

/** The site of one version is a folder; `versions.json` next to it lists all. */
function build(out: string, base: string, sourceUrl: string): void {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (!existsSync(join(site, "node_modules/vitepress"))) run("npm", "ci", "--loglevel=error");
  writePages();
  const folder = join(out, version);
  rmSync(folder, { recursive: true, force: true });
  Object.assign(process.env, { SITE_VERSION: version, SITE_OUT: folder, SITE_BASE: `${base}${version}/`, SITE_SOURCE_URL: sourceUrl });
  run(join(site, "node_modules/.bin/vitepress"), "build");
  writeVersions(out, base);
}

/** Copies docs/ to `site/pages`, with the home page, and with the groups of code as VitePress writes them. */
function writePages(): void {
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, "docs"), pages, { recursive: true });
  cpSync(join(site, "home.md"), join(pages, "index.md"));
  for (const name of globSync("**/*.md", { cwd: pages })) {
    const path = join(pages, name);
    writeFileSync(path, withTabs(readFileSync(path, "utf8")));
  }
}

/** Blocks of code between `<!-- tabs -->` and `<!-- /tabs -->` say the same in several languages: ```sh curl` names its tab. */
const withTabs = (page: string): string =>
  page.replaceAll(/^<!-- tabs -->$([\s\S]*?)^<!-- \/tabs -->$/gm, (_, blocks: string) =>
    ["::: code-group", blocks.replaceAll(/^```(\w+) (.+)$/gm, "```$1 [$2]"), ":::"].join("\n"),
  );

function writeVersions(out: string, base: string): void {
  const versions = readdirSync(out, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
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
    ...{ source: { type: "string", default: "" }, help: { type: "boolean", default: false } },
  },
});
if (values.help) process.stdout.write(usage);
else build(resolve(values.out), values.base, values.source);
