import { invalid } from "../failure.ts";
import { isExecutable } from "../files/filename.ts";
import { shown } from "../skills/path.ts";

/** The longest path of a file of a site, and of each of its parts, in bytes of UTF-8. */
const pathBytesMax = 1024;
const partBytesMax = 255;
/** Folders of a site that begin with a dot; others hold what nobody means to publish, and `/.ticket` is ours. */
const dotted: ReadonlySet<string> = new Set([".well-known"]);

/** Nothing that a part of a path may hold: control characters, slashes, and halves of characters. */
const stray = /[\p{Cc}\p{Cs}/\\]/u;

/** The rule that a part of a path breaks; undefined for a good one. */
function partFault(part: string, isFirst: boolean): string | undefined {
  if (part === "" || part === "." || part === "..") return "must not have empty parts, `.` or `..`";
  if (stray.test(part)) return "must not hold control characters or backslashes";
  if (part.startsWith(".") && !(isFirst && dotted.has(part))) return "must not have parts that begin with a dot, but for .well-known";
  return Buffer.byteLength(part) > partBytesMax ? `must have parts of at most ${partBytesMax} bytes of UTF-8` : undefined;
}

/**
 * A path of a file below the folder of a site: parts with `/` between them, no slash at its beginning.
 *
 * @param field where it stands, for the refusal.
 * @throws Failure `invalid` for any other, with the path and the rule that it breaks; for executables and scripts of shells too.
 */
export function checkSitePath(path: string, field = "files"): string {
  const fault = pathFault(path);
  if (fault !== undefined) throw invalid(field, `${shown(path)} ${fault}`);
  return path;
}

function pathFault(path: string): string | undefined {
  if (Buffer.byteLength(path) > pathBytesMax) return `must be at most ${pathBytesMax} bytes of UTF-8`;
  if (isExecutable(path)) return "must not be an executable or a script of a shell";
  return path
    .split("/")
    .map((part, i) => partFault(part, i === 0))
    .find((rule) => rule !== undefined);
}

/** What a request's path asks for: a file's path, and whether it names a folder; null for what no file can have. */
export interface AskedPath {
  /** Empty for the root. */
  readonly path: string;
  /** It ends with a slash, as the root does. */
  readonly isFolder: boolean;
}

/**
 * Reads the path of a request, query and all. Each part is decoded once and must then be a part
 * of a path that a site may have: what is encoded twice stays encoded once, and names no file.
 */
export function askedPath(target: string): AskedPath | null {
  const [path = ""] = target.split(/[?#]/, 1);
  if (!path.startsWith("/") || path.length > 8 * pathBytesMax) return null;
  const parts = path.slice(1).split("/");
  const isFolder = parts.at(-1) === "";
  const named = isFolder ? parts.slice(0, -1) : parts;
  const decoded = named.map(decodedPart);
  if (decoded.some((part, i) => part === null || partFault(part, i === 0) !== undefined)) return null;
  return { path: decoded.join("/"), isFolder };
}

function decodedPart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** The path of a file or folder in a URL, from the root; never beginning with two slashes. */
export const urlPath = (path: string): string => `/${path.split("/").map(encodeURIComponent).join("/")}`;
