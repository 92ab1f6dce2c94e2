// Releases (docs/operate/upgrading.md, "For contributors").
//   npm run release [-- --out FOLDER]    builds the files of this commit into dist/release/VERSION
//   npm run release -- --cut VERSION     makes the commit of a release
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root, runTool } from "./check/command.ts";
import { cut, Refused } from "./release/cut.ts";

const { values } = parseArgs({
  options: { cut: { type: "string" }, out: { type: "string", default: join(root, "dist/release") } },
});
const runScript = (...words: readonly string[]) =>
  execFileSync(process.execPath, words, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });

async function makeCommit(version: string): Promise<string> {
  const today = new Date().toISOString().slice(0, 10);
  const check = () => runTool(["node", "scripts/check.ts"]);
  const commit = await cut({
    root,
    version,
    today,
    check,
    describe: () => void runScript("scripts/generated.ts", "--write"),
  });
  return `The release is commit ${commit}. Nothing was pushed: \`git tag --annotate v${version} --message "${version}"\` tags it.`;
}

async function buildFiles(): Promise<string> {
  runScript("scripts/setup.mjs", "--tests", "--docs");
  // It reads generated files, which the line above makes.
  const { buildRelease } = await import("./release/build.ts");
  return await buildRelease(resolve(values.out));
}

try {
  console.log(await (values.cut === undefined ? buildFiles() : makeCommit(values.cut)));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
