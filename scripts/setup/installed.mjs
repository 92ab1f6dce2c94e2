import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { runCommand } from "./command.mjs";
import { digestOf } from "./digest.mjs";

/** The Node that runs the project. */
const nodeMajor = 24;

/**
 * The step that installs dependencies, and Node if the machine's is too old. The packages that only tests and
 * checks need (`devDependencies`) are installed when `withTests` is set, and kept after that.
 */
export function installed(root, { withTests }) {
  const stamp = join(root, "node_modules", ".installed");
  const read = () => (existsSync(stamp) ? readFileSync(stamp, "utf8").split(" ") : []);
  // Before 0.2.0, a stamp had the digest only, and every install was complete.
  const isComplete = ([inputDigest, set = "all"]) => inputDigest !== undefined && set === "all";
  const installsNode = needsNode(root);
  const facts = [
    process.platform,
    process.arch,
    installsNode ? `own ${nodeMajor}` : process.versions.node.split(".")[0],
  ];
  const digest = () => digestOf(root, ["package.json", "package-lock.json", ".npmrc"], facts);
  return {
    isDone: () => read()[0] === digest() && (!withTests || isComplete(read())),
    async run() {
      process.stderr.write("setup: installing dependencies\n");
      const inputDigest = digest();
      const isAll = withTests || isComplete(read());
      // Remove the stamp first: an interrupted install must not count as complete.
      rmSync(stamp, { force: true });
      await install(root, [
        isAll ? "--include=dev" : "--omit=dev",
        ...(installsNode ? [`node@${nodeMajor}`] : []),
      ]);
      if (installsNode) await checkNode(root);
      writeFileSync(stamp, `${inputDigest} ${isAll ? "all" : "run"}`);
    },
  };
}

/** True for an old Node, and for a Node that an earlier setup installed, which npm would prune otherwise. */
function needsNode(root) {
  if (Number(process.versions.node.split(".")[0]) < nodeMajor) return true;
  const modules = join(root, "node_modules");
  return existsSync(modules) && process.execPath.startsWith(realpathSync(modules) + sep);
}

async function install(root, extra) {
  // Not `npm ci`: it refuses a lock file that lacks another platform's optional package. The lock file stays
  // unchanged.
  const parameters = ["install", "--no-save", "--loglevel=error", ...extra];
  const cli = process.env.npm_execpath;
  const npm = cli?.endsWith("npm-cli.js") ? [process.execPath, cli] : ["npm"];
  await runCommand(root, [...npm, ...parameters], {
    about: "installing dependencies",
    detail: () => `${packagesIn(root)} packages in node_modules`,
  });
}

/** The number of packages that npm has installed so far. */
function packagesIn(root) {
  try {
    const names = readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith("."));
    return names.flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(root, "node_modules", name)) : [name],
    ).length;
  } catch {
    // The folder does not exist yet, or npm is removing one.
    return 0;
  }
}

async function checkNode(root) {
  const version = (await runCommand(root, ["node", "--version"])).trim();
  if (Number(version.slice(1).split(".")[0]) >= nodeMajor) return;
  throw new Error(
    `Node ${nodeMajor} was not installed (found ${version}); install it yourself, or allow the install script of the package "node"`,
  );
}
