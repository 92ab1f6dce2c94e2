// `npm run release -- --cut VERSION`: makes the commit of a release (docs/operate/upgrading.md).
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { root, runTool } from "./check/command.ts";
import { cut, Refused } from "./release/cut.ts";

const { values } = parseArgs({ options: { cut: { type: "string" } } });
try {
  if (values.cut === undefined) throw new Refused(["give --cut VERSION"]);
  const today = new Date().toISOString().slice(0, 10);
  const check = () => runTool(["node", "scripts/check.ts"]);
  const describe = () =>
    execFileSync(process.execPath, ["scripts/documents.ts", "--write"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const commit = await cut({ root, version: values.cut, today, check, describe });
  console.log(
    `The release is commit ${commit}. Nothing was pushed: \`git tag --annotate v${values.cut} --message "${values.cut}"\` tags it.`,
  );
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
