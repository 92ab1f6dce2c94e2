import { invalidArgument } from "../failure.ts";

const bytesMax = 512;
const depthMax = 20;

/**
 * An allowed segment of a skill's path: it cannot leave the folder, and no system reads it as anything but a
 * name.
 */
const segmentForm =
  /^(?!\.{1,2}$)[^\\/:\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*[^\\/:\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}. ]$/u;
/** Device names of Windows, in any letter case and with any extension. */
const deviceForm = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/iu;

/** Whether Windows opens a device under this name. */
export const isDevice = (name: string): boolean => deviceForm.test(name);

const isPlain = (segment: string): boolean => segmentForm.test(segment) && !isDevice(segment);

/**
 * Checks a path within a skill: relative, with slashes, without `.` and `..`.
 *
 * @param at the field that the skill came in, for the error text.
 * @throws Failure `invalid_argument` with the quoted path.
 */
function checkPath(at: string, path: string, what = "skill"): void {
  const segments = path.split("/");
  const isValid =
    Buffer.byteLength(path) <= bytesMax && segments.length <= depthMax && segments.every(isPlain);
  if (!isValid) throw invalidArgument(at, `${quotePath(path)} is not a valid path in a ${what}`);
}

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Equal for two paths that are equal on some system or look equal: they differ in letter case, form of
 * accents or invisible characters only.
 */
export const pathKey = (path: string): string =>
  path
    .replace(invisible, "")
    .normalize("NFKC")
    .toLowerCase()
    .toUpperCase()
    .normalize("NFC")
    .replace(invisible, "");

/** Quotes a path for an error text, at most 80 characters. */
export const quotePath = (path: string): string =>
  JSON.stringify([...path.toWellFormed()].slice(0, 80).join("")).replaceAll(/\p{Bidi_Control}/gu, "?");

/**
 * Refuses duplicate paths, and files whose path is also a folder.
 *
 * @throws Failure `invalid_argument`
 */
function checkDistinct(at: string, paths: readonly string[]): void {
  const keys = new Set<string>();
  for (const path of paths) {
    const key = pathKey(path);
    if (keys.has(key)) throw invalidArgument(at, `${quotePath(path)} appears twice`);
    keys.add(key);
  }
  for (const path of paths) {
    const folders = pathKey(path).split("/").slice(0, -1);
    const clash = folders.some((_, i) => keys.has(folders.slice(0, i + 1).join("/")));
    if (clash) throw invalidArgument(at, `${quotePath(path)} is in a folder that is also a file`);
  }
}

export interface SkillFile {
  /** Relative to the skill's folder, with slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The limits of a skill. */
export const entriesMax = 1_000;
export const fileBytesMax = 20 * 1024 * 1024;
export const totalBytesMax = 50 * 1024 * 1024;

/** Files that file managers add. */
const systemFiles = /(^|\/)(__MACOSX\/.*|\.DS_Store|Thumbs\.db)$/;
export const isSystemFile = (path: string): boolean => systemFiles.test(path);

/** Counts entries and bytes while a skill is read. */
export interface ReadLimits {
  /** @throws Failure `invalid_argument` beyond 1,000 entries. */
  countEntry(): void;
  /**
   * Counts `more` bytes of a file that has `before` bytes so far. @throws Failure `invalid_argument` beyond
   * 20 MB per file and 50 MB in total.
   */
  countBytes(more: number, before: number): void;
}

/** @param at the field that the skill came in, for error texts. */
export function createReadLimits(at: string, what = "skill"): ReadLimits {
  let [entries, total] = [0, 0];
  return {
    countEntry() {
      entries += 1;
      if (entries > entriesMax)
        throw invalidArgument(at, `a ${what} has at most ${entriesMax} files and folders`);
    },
    countBytes(more, before) {
      total += more;
      if (before + more > fileBytesMax) throw invalidArgument(at, `a file of a ${what} has at most 20 MB`);
      if (total > totalBytesMax) throw invalidArgument(at, `a ${what} has at most 50 MB`);
    },
  };
}

/**
 * The files of a skill with paths relative to its folder: removes a single top folder that contains all of
 * them.
 *
 * @throws Failure `invalid_argument` for invalid and for duplicate paths.
 */
export function normalizeFiles(
  at: string,
  found: readonly SkillFile[],
  what = "skill",
): readonly SkillFile[] {
  const files = found.filter(({ path }) => !isSystemFile(path));
  for (const { path } of files) checkPath(at, path, what);
  const tops = new Set(files.map(({ path }) => path.slice(0, path.indexOf("/") + 1)));
  const [top = ""] = tops;
  const within =
    tops.size === 1 ? files.map(({ path, bytes }) => ({ path: path.slice(top.length), bytes })) : files;
  checkDistinct(
    at,
    within.map(({ path }) => path),
  );
  return within;
}
