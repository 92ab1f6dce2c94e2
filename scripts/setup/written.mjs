import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.mjs";
import { digestOf } from "./digest.mjs";

/**
 * The step that writes generated files to their places between written ones, where git ignores them. `command` gets the parts to
 * write, and prints in its last line a list of the files that it wrote and of its modules: with `inputs`, a digest of them decides. Parts that an earlier
 * set-up wrote are kept current.
 */
export function written(root, { name, inputs, parts, command }) {
  const stamp = join(root, ".setup", `${name}.json`);
  const read = () => (existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : { parts: [], files: [] });
  const digest = (files) => digestOf(root, [...inputs, "package-lock.json", ...files]);
  return {
    isDone() {
      const last = read();
      const has = parts.every((part) => last.parts.includes(part)) && last.files.every((path) => existsSync(join(root, path)));
      return has && last.digest === digest(last.files);
    },
    async run() {
      process.stderr.write(`setup: generating ${name}\n`);
      const all = [...new Set([...read().parts, ...parts])];
      rmSync(stamp, { force: true });
      const printed = await runCommand(root, [...command, ...all], { about: `generating ${name}` });
      const files = JSON.parse(printed.trim().split("\n").at(-1));
      mkdirSync(join(root, ".setup"), { recursive: true });
      writeFileSync(stamp, JSON.stringify({ parts: all, digest: digest(files), files }));
    },
  };
}
