import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { runCommand } from "./command.mjs";
import { digestOf } from "./digest.mjs";

/** Generations kept beside the present one, for servers that still run on them. */
const generationsKept = 4;

/**
 * The step that generates `src/gen/NAME`, a link to a folder that is written once and never
 * again: a running server resolved the link when it started and goes on reading its own
 * generation. The folder's name holds the digest of the inputs.
 */
export function generated(root, { name, inputs, command }) {
  const link = join(root, "src", "gen", name);
  const folder = (digest) => join(root, ".setup", "gen", `${name}-${digest}`);
  const target = (digest) => relative(dirname(link), folder(digest));
  // The lock file stands for the versions of the generators.
  const digest = () => digestOf(root, [...inputs, "package-lock.json"]);
  return {
    isDone: () => linkedTo(link) === target(digest()) && existsSync(link),
    async run() {
      process.stderr.write(`setup: generating ${name}\n`);
      const staging = join(root, ".setup", "staging");
      const wanted = digest();
      rmSync(staging, { recursive: true, force: true });
      await runCommand(root, command(relative(root, staging)), { about: `generating ${name}` });
      // Somebody is editing: what came out may be of neither version.
      if (digest() !== wanted) return this.run();
      keep(join(staging, "src", "gen", name), folder(wanted));
      point(link, target(wanted));
      rmSync(staging, { recursive: true, force: true });
      forgetOld(dirname(folder(wanted)), `${name}-`);
    },
  };
}

/** What a link says; undefined for anything that is not a link. */
function linkedTo(link) {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined;
}

function keep(made, folder) {
  mkdirSync(dirname(folder), { recursive: true });
  // The same inputs were generated before: what is there may be in use, and is as good.
  if (!existsSync(folder)) renameSync(made, folder);
  const now = new Date();
  utimesSync(folder, now, now);
}

function point(link, target) {
  mkdirSync(dirname(link), { recursive: true });
  // A plain folder was made by hand, with the generator itself.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) rmSync(link, { recursive: true });
  rmSync(`${link}.next`, { force: true });
  symlinkSync(target, `${link}.next`);
  renameSync(`${link}.next`, link);
}

function forgetOld(folder, prefix) {
  const generations = readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ path: join(folder, name), madeAt: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.madeAt - a.madeAt);
  for (const { path } of generations.slice(1 + generationsKept)) rmSync(path, { recursive: true });
}
