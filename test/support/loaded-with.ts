import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The files that are loaded with a file: its imports, and theirs, without those that run later. */
export function loadedWith(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, target = ""] of readFileSync(path, "utf8").matchAll(
    /^(?:import|export) (?!type )[^;]*?from "([^"]+)"/gm,
  )) {
    if (target.startsWith(".")) loadedWith(join(dirname(path), target), seen);
    else seen.add(target);
  }
  return seen;
}
