import { invalid } from "../failure.ts";
import { statedType, typeOfExtension } from "./media-type.ts";

/** Executables and shell scripts; source code is none (contract/v2.md 14.3). */
const forbidden = new Set("exe msi com scr dll bat cmd ps1 vbs vbe jse wsf sh bash zsh ksh csh app dmg pkg deb rpm apk jar".split(" "));

/** The longest name that common file systems take, in bytes of UTF-8. */
const bytesMax = 255;

/** What has no place in a name: control characters, and those that turn the direction of text around. */
export const unseen = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/**
 * A name as it was given, once it is known to be one: it is shown and sent back, and
 * never a path.
 *
 * @param path the field that it came in.
 * @throws Failure `invalid` for one that is empty, a path, longer than 255 bytes, holds
 * characters that hide something, or has a forbidden extension.
 */
export function checkFilename(name: string, path = "filename"): string {
  if (name.trim() === "" || /^\.+$/.test(name)) throw invalid(path, "must be a name");
  if (/[/\\]/.test(name)) throw invalid(path, "must be a name, not a path");
  if (unseen.test(name)) throw invalid(path, "must not hold control or bidirectional characters");
  if (Buffer.byteLength(name) > bytesMax) throw invalid(path, `must be at most ${bytesMax} bytes of UTF-8`);
  if (isExecutable(name)) throw invalid(path, "executables and scripts are not taken");
  return name;
}

/**
 * A name for what a stranger names, which is no reason to refuse the file: what has
 * no place in a name is left out. A forbidden extension stays, for `checkFilename`.
 */
export function tidyFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const seen = last.replace(new RegExp(unseen, "gu"), "").trim();
  if (seen === "" || /^\.+$/.test(seen)) return "file";
  return Buffer.byteLength(seen) <= bytesMax ? seen : shortened(seen);
}

/** The beginning and the extension of a name that is too long. */
function shortened(name: string): string {
  const dot = name.lastIndexOf(".");
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : "";
  const start = Buffer.from(name).subarray(0, bytesMax - Buffer.byteLength(end));
  // A decoder that expects more leaves out a character of which a part is missing.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true }) + end;
}

/** By its extension, which is not to be brought (contract/v2.md 14.3). */
export const isExecutable = (name: string): boolean => forbidden.has(extensionOf(name));

/** What counts as a name's extension, however it is dressed up (contract/decisions.md 37). */
export function extensionOf(name: string): string {
  // Characters without a shape of their own would part what looks like one word.
  const plain = name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .toLowerCase();
  const end = plain.replace(/[.\s]+$/u, "");
  const dot = end.lastIndexOf(".");
  return dot < 0 ? "" : end.slice(dot + 1);
}

/**
 * The media type of a file by its name.
 *
 * @param stated what its sender says that it is; null for nothing.
 */
export const contentTypeOf = (name: string, stated: string | null = null): string => {
  const extension = extensionOf(name);
  return stated === null ? typeOfExtension(extension) : statedType(stated, extension);
};
