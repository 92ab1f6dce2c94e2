import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A place of the version: the files that have it, and the text before it. */
const places: readonly (readonly [RegExp, RegExp])[] = [
  // Of the platform and its packages, also in lock files.
  [
    /(^|\/)package(-lock)?\.json$/,
    /"name": "(?:agent-task-platform|@agent-task-platform\/\w+)",\s+"version": "/,
  ],
  [/^packages\/python\//, /^(?:__version__|version) = "/m],
  [/^deploy\/kubernetes\//, /\bnewTag: /],
  // Names of packages and images in commands: `agent-task-platform-0.2.0.tgz`, `agent-task-platform:0.2.0`.
  [/^(deploy|examples|README\.md|docs\/(?!releases|internals))/, /agent[-_]task[-_]platform(?:-\w+)?[-:]/],
  [
    /^docs\/(?!releases|internals)/,
    /\[Release (?=[\d.]+\]\(\.\.\/releases\/)|\]\(\.\.\/releases\/(?=[\d.]+\.md\))/,
  ],
];

/** Replaces the version of the platform in a file of the repository, where it has one. */
export function withVersion(root: string, path: string, old: string, version: string): void {
  const here = places.filter(([files]) => files.test(path));
  if (here.length === 0) return;
  const text = readFileSync(join(root, path), "utf8");
  const changed = here.reduce((all, [, before]) => {
    const form = new RegExp(
      `(?<=${before.source})${old.replaceAll(".", "\\.")}(?![\\d])`,
      `g${before.flags}`,
    );
    return all.replaceAll(form, version);
  }, text);
  if (changed !== text) writeFileSync(join(root, path), changed);
}
