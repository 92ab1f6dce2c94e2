import { invalidArgument } from "../failure.ts";
import { isExecutable } from "../files/filename.ts";
import { quotePath } from "../skills/files.ts";

/** The most bytes of UTF-8 of a file's path in a site, and of each of its parts. */
const pathBytesMax = 1024;
const partBytesMax = 255;
/**
 * The allowed folder names with a leading dot. Others usually contain files that are not meant for
 * publication, and `/.ticket` is reserved.
 */
const allowedDotFolders: ReadonlySet<string> = new Set([".well-known"]);

/** Characters that no part of a path may contain: control characters, slashes, and lone surrogates. */
const forbidden = /[\p{Cc}\p{Cs}/\\]/u;

/** The rule that a part of a path breaks; undefined for a valid one. */
function partFault(part: string, isFirst: boolean): string | undefined {
  if (part === "" || part === "." || part === "..") return "must not have empty parts, `.` or `..`";
  if (forbidden.test(part)) return "must not contain control characters or backslashes";
  if (part.startsWith(".") && !(isFirst && allowedDotFolders.has(part)))
    return "must not have parts that begin with a dot, except .well-known";
  return Buffer.byteLength(part) > partBytesMax
    ? `must have parts of at most ${partBytesMax} bytes of UTF-8`
    : undefined;
}

/**
 * Checks the path of a file below the folder of a site: parts separated by `/`, without a leading slash.
 *
 * @param field the field of the path, for the error text.
 * @throws Failure `invalid_argument` with the path and the broken rule; also for executables and shell
 * scripts.
 */
export function checkSitePath(path: string, field = "files"): string {
  const fault = pathFault(path);
  if (fault !== undefined) throw invalidArgument(field, `${quotePath(path)} ${fault}`);
  return path;
}

function pathFault(path: string): string | undefined {
  if (Buffer.byteLength(path) > pathBytesMax) return `must be at most ${pathBytesMax} bytes of UTF-8`;
  if (isExecutable(path)) return "must not be an executable or a shell script";
  return path
    .split("/")
    .map((part, i) => partFault(part, i === 0))
    .find((rule) => rule !== undefined);
}

/** The file or folder that a request's path names. */
export interface RequestPath {
  /** Empty for the root. */
  readonly path: string;
  /** True when it ends with a slash, as the root does. */
  readonly isFolder: boolean;
}

/**
 * Reads the path of a request, with its query; null when no file can have it. Each part is decoded once and
 * must then be a valid part of a site's path: a part that is encoded twice stays encoded once, and names no
 * file.
 */
export function parseRequestPath(target: string): RequestPath | null {
  const [path = ""] = target.split(/[?#]/, 1);
  if (!path.startsWith("/") || path.length > 8 * pathBytesMax) return null;
  const parts = path.slice(1).split("/");
  const isFolder = parts.at(-1) === "";
  const named = isFolder ? parts.slice(0, -1) : parts;
  const decoded = named.map(decodePart);
  if (decoded.some((part, i) => part === null || partFault(part, i === 0) !== undefined)) return null;
  return { path: decoded.join("/"), isFolder };
}

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** The path of a file or folder in a URL, from the root; never beginning with two slashes. */
export const urlPath = (path: string): string => `/${path.split("/").map(encodeURIComponent).join("/")}`;
