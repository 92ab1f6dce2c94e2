import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.mjs";
import { digestOf } from "./digest.mjs";

/**
 * The step that writes generated files to their places between written ones, where git ignores them.
 * `command` prints in its last line a list of the files that it wrote and of its modules: with `inputs`, a
 * digest of them decides.
 */
export function written(root, { name, inputs, command }) {
  const stamp = join(root, ".setup", `${name}.json`);
  const digest = (files) => digestOf(root, [...inputs, "package-lock.json", ...files]);
  return {
    isDone() {
      if (!existsSync(stamp)) return false;
      const last = JSON.parse(readFileSync(stamp, "utf8"));
      return last.files.every((path) => existsSync(join(root, path))) && last.digest === digest(last.files);
    },
    async run() {
      process.stderr.write(`setup: generating ${name}\n`);
      rmSync(stamp, { force: true });
      const printed = await runCommand(root, command, { about: `generating ${name}` });
      const files = JSON.parse(printed.trim().split("\n").at(-1));
      writeFileSync(stamp, JSON.stringify({ digest: digest(files), files }));
    },
  };
}
