import { invalid } from "../failure.ts";
import { checkDistinct, checkPath } from "./path.ts";

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the skill's folder, with slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What a skill may hold. */
export const entriesMax = 1_000;
export const fileBytesMax = 20 * 1024 * 1024;
export const totalBytesMax = 50 * 1024 * 1024;

/** What file managers leave behind. */
const litter = /(^|\/)(__MACOSX\/.*|\.DS_Store|Thumbs\.db)$/;
export const isLitter = (path: string): boolean => litter.test(path);

/** Counts what is read of a skill, while it is read. */
export interface Allowance {
  /** @throws Failure `invalid` beyond 1,000 entries. */
  entry(): void;
  /** More bytes of a file that has so many already. @throws Failure `invalid` beyond 20 MB of a file and 50 MB of all. */
  take(more: number, before: number): void;
}

/** @param at where the skill came from, for refusals. */
export function allowance(at: string, what = "skill"): Allowance {
  let [entries, total] = [0, 0];
  return {
    entry() {
      entries += 1;
      if (entries > entriesMax) throw invalid(at, `a ${what} has at most ${entriesMax} files and folders`);
    },
    take(more, before) {
      total += more;
      if (before + more > fileBytesMax) throw invalid(at, `a file of a ${what} has at most 20 MB`);
      if (total > totalBytesMax) throw invalid(at, `a ${what} has at most 50 MB`);
    },
  };
}

/**
 * The files of a skill from its folder down: one folder around all of them is taken off.
 *
 * @throws Failure `invalid` for paths that a skill may not have, and doubles.
 */
export function rooted(at: string, found: readonly SkillFile[], what = "skill"): readonly SkillFile[] {
  const files = found.filter(({ path }) => !isLitter(path));
  for (const { path } of files) checkPath(at, path, what);
  const tops = new Set(files.map(({ path }) => path.slice(0, path.indexOf("/") + 1)));
  const [top = ""] = tops;
  const within = tops.size === 1 ? files.map(({ path, bytes }) => ({ path: path.slice(top.length), bytes })) : files;
  checkDistinct(
    at,
    within.map(({ path }) => path),
  );
  return within;
}
