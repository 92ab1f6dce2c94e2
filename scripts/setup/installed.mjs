import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { runCommand } from "./command.mjs";
import { digestOf } from "./digest.mjs";

/** The Node that runs the project. */
const nodeMajor = 24;

/** The step that brings dependencies, and Node where the machine's is too old. */
export function installed(root) {
  const stamp = join(root, "node_modules", ".installed");
  const bringsNode = needsNode(root);
  const facts = [process.platform, process.arch, bringsNode ? `own ${nodeMajor}` : process.versions.node.split(".")[0]];
  const digest = () => digestOf(root, ["package.json", "package-lock.json", ".npmrc"], facts);
  return {
    isDone: () => existsSync(stamp) && readFileSync(stamp, "utf8") === digest(),
    async run() {
      process.stderr.write("setup: installing dependencies\n");
      const wanted = digest();
      // Gone first: an install that is cut off must not pass for a whole one.
      rmSync(stamp, { force: true });
      await install(root, bringsNode ? [`node@${nodeMajor}`] : []);
      if (bringsNode) await checkNode(root);
      writeFileSync(stamp, wanted);
    },
  };
}

/** True for an old Node, and for the one that an earlier setup brought: npm would prune it otherwise. */
function needsNode(root) {
  if (Number(process.versions.node.split(".")[0]) < nodeMajor) return true;
  const modules = join(root, "node_modules");
  return existsSync(modules) && process.execPath.startsWith(realpathSync(modules) + sep);
}

async function install(root, extra) {
  // Not `npm ci`: it refuses a lock file that lacks another platform's optional package. The lock stays as it is.
  const parameters = ["install", "--no-save", "--include=dev", "--loglevel=error", ...extra];
  const cli = process.env.npm_execpath;
  const npm = cli?.endsWith("npm-cli.js") ? [process.execPath, cli] : ["npm"];
  await runCommand(root, [...npm, ...parameters], {
    about: "installing dependencies",
    detail: () => `${packagesIn(root)} packages in node_modules`,
  });
}

/** How many packages npm has put in their place so far. */
function packagesIn(root) {
  try {
    const names = readdirSync(join(root, "node_modules")).filter((name) => !name.startsWith("."));
    return names.flatMap((name) => (name.startsWith("@") ? readdirSync(join(root, "node_modules", name)) : [name])).length;
  } catch {
    // There is no folder yet, or npm just removes one.
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
