import { invalid } from "../failure.ts";

const bytesMax = 512;
const depthMax = 20;

/** What a file of a skill may be called: nothing that leaves its folder, and nothing that another system reads as something else. */
const segmentForm = /^(?!\.{1,2}$)[^\\/:\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*[^\\/:\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}. ]$/u;
/** What Windows takes for a device, in whatever letters and with whatever after a dot. */
const deviceForm = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/iu;

/** Whether Windows opens something else than a file of this name. */
export const isDevice = (name: string): boolean => deviceForm.test(name);

const isPlain = (segment: string): boolean => segmentForm.test(segment) && !isDevice(segment);

/**
 * Checks a path within a skill: relative, with slashes, without `.` and `..`.
 *
 * @param at where the skill came from, for the refusal.
 * @throws Failure `invalid` with the path, as far as it can be shown.
 */
export function checkPath(at: string, path: string, what = "skill"): void {
  const segments = path.split("/");
  const fits = Buffer.byteLength(path) <= bytesMax && segments.length <= depthMax && segments.every(isPlain);
  if (!fits) throw invalid(at, `${shown(path)} is no path that a ${what} may have`);
}

const unseen = /\p{Default_Ignorable_Code_Point}/gu;

/** The same for two paths that are the same on some system, or to the eye: by letter case, how accents are written, or what is not shown. */
export const pathKey = (path: string): string =>
  path.replace(unseen, "").normalize("NFKC").toLowerCase().toUpperCase().normalize("NFC").replace(unseen, "");

/** For people, in a refusal. */
export const shown = (path: string): string =>
  JSON.stringify([...path.toWellFormed()].slice(0, 80).join("")).replaceAll(/\p{Bidi_Control}/gu, "?");

/**
 * Refuses paths that are there twice, and files that are folders too.
 *
 * @throws Failure `invalid`
 */
export function checkDistinct(at: string, paths: readonly string[]): void {
  const keys = new Set<string>();
  for (const path of paths) {
    const key = pathKey(path);
    if (keys.has(key)) throw invalid(at, `${shown(path)} is there twice`);
    keys.add(key);
  }
  for (const path of paths) {
    const folders = pathKey(path).split("/").slice(0, -1);
    const clash = folders.some((_, i) => keys.has(folders.slice(0, i + 1).join("/")));
    if (clash) throw invalid(at, `${shown(path)} is in a folder that is a file too`);
  }
}
