import { MIMEType } from "node:util";
import { Mime } from "mime";
import otherTypes from "mime/types/other.js";
import standardTypes from "mime/types/standard.js";
import { invalidArgument } from "../failure.ts";

/**
 * A Content-Disposition that makes browsers save a file under its name instead of showing
 * it (RFC 6266): the name in ASCII for old clients, and in full in UTF-8 (RFC 8187).
 */
export function contentDisposition(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === filename ? plain : `${plain}; filename*=UTF-8''${encodeValue(filename)}`;
}

/** Encodes a text so that it has only RFC 8187's value-chars. */
const encodeValue = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * TypeScript has no registered media type: IANA's registry gives `.ts` to MPEG transport streams
 * (`video/mp2t`), and some systems give it to Qt's translations. Here source code is the likely file.
 * `text/typescript` is named after the registered `text/javascript` (RFC 9239), and software that does not
 * know a type of `text` treats it as plain text (RFC 2046 4.1.4); browsers never run it as a script.
 */
const typeScript = "text/typescript";
const typeScriptExtensions = ["ts", "tsx", "mts", "cts"];

const types = new Mime(standardTypes, otherTypes).define({ [typeScript]: typeScriptExtensions }, true);

/** The media types that servers and browsers guess from the extension `.ts` alone. */
const guessedOfTs: readonly string[] = [
  "video/mp2t",
  "video/vnd.dlna.mpeg-tts",
  "text/vnd.trolltech.linguist",
];

/**
 * A media type in lower case, without its parameters; undefined for a text that is not one (RFC 9110 8.3.1).
 */
export function mediaType(text: string): string | undefined {
  try {
    return new MIMEType(text).essence;
  } catch {
    return undefined;
  }
}

/** A name for a file without one. */
export const nameFor = (contentType: string): string => `file.${types.getExtension(contentType) ?? "bin"}`;

const typeOfExtension = (extension: string): string =>
  types.getType(`file.${extension}`) ?? "application/octet-stream";

/**
 * The media type that the sender of a file states, unless it is a guess from an extension with another
 * meaning here.
 */
const statedType = (stated: string, extension: string): string =>
  typeScriptExtensions.includes(extension) && guessedOfTs.includes(stated) ? typeScript : stated;

/** Extensions of executables and shell scripts; source code is allowed (spec/api.md 14.3). */
const forbidden = new Set(
  "exe msi com scr dll bat cmd ps1 vbs vbe jse wsf sh bash zsh ksh csh app dmg pkg deb rpm apk jar".split(
    " ",
  ),
);

/** The longest name that common file systems accept, in bytes of UTF-8. */
const bytesMax = 255;

/** Characters that a name must not have: control characters, and those that change the direction of text. */
export const hiddenCharacters = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

/**
 * Checks a file name and returns it unchanged: it is shown and sent back, and never
 * used as a path.
 *
 * @param path the field with the name.
 * @throws Failure `invalid_argument` for a name that is empty, is a path, is longer than 255
 * bytes, has characters that hide something, or has a forbidden extension.
 */
export function checkFilename(name: string, path = "filename"): string {
  if (name.trim() === "" || /^\.+$/.test(name)) throw invalidArgument(path, "must be a name");
  if (/[/\\]/.test(name)) throw invalidArgument(path, "must be a name, not a path");
  if (hiddenCharacters.test(name))
    throw invalidArgument(path, "must not hold control or bidirectional characters");
  if (Buffer.byteLength(name) > bytesMax)
    throw invalidArgument(path, `must be at most ${bytesMax} bytes of UTF-8`);
  if (isExecutable(name)) throw invalidArgument(path, "executables and scripts are not accepted");
  return name;
}

/**
 * Corrects a file name from another server instead of refusing the file: it removes
 * characters that a name must not have. A forbidden extension stays, for `checkFilename`.
 */
export function tidyFilename(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const visible = last.replace(new RegExp(hiddenCharacters, "gu"), "").trim();
  if (visible === "" || /^\.+$/.test(visible)) return "file";
  return Buffer.byteLength(visible) <= bytesMax ? visible : shorten(visible);
}

/** The beginning and the extension of a name that is too long. */
function shorten(name: string): string {
  const dot = name.lastIndexOf(".");
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : "";
  const start = Buffer.from(name).subarray(0, bytesMax - Buffer.byteLength(end));
  // A decoder that expects more bytes omits an incomplete last character.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true }) + end;
}

/** Whether a name has a forbidden extension (spec/api.md 14.3). */
export const isExecutable = (name: string): boolean => forbidden.has(extensionOf(name));

/** The effective extension of a name, even if it is disguised (spec/decisions.md 37). */
export function extensionOf(name: string): string {
  // Invisible characters could split what looks like one extension.
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
 * @param stated the media type that its sender states; null for none.
 */
export const contentTypeOf = (name: string, stated: string | null = null): string => {
  const extension = extensionOf(name);
  return stated === null ? typeOfExtension(extension) : statedType(stated, extension);
};
