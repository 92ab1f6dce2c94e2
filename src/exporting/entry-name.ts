import { isDevice } from "../core/skills/path.ts";

/** So much of a file's name is kept, in bytes of UTF-8: with the file's id before it no file system refuses it. */
const nameBytes = 180;

/** What some system takes for a separator, a drive, a wildcard or a device, and what nobody can see. */
const unsafe = /[/\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Where an attached file stands in an archive: no name leads out of its folder, and none
 * is another's, for the ids differ.
 */
export const entryName = (taskId: string, file: { readonly fileId: string; readonly filename: string }): string =>
  `attachments/${plain(taskId)}/${plain(file.fileId)}_${safe(file.filename)}`;

/** Where a skill's ZIP stands in an archive (contract/enterprise.md 6.6). */
export function skillEntryName({ id, name }: { readonly id: string; readonly name: string }): string {
  const called = safe(name);
  return `skills/${plain(id)}/${isDevice(called) ? "_" : ""}${called}.zip`;
}

/** Ids are of letters, digits and hyphens anyway. */
const plain = (id: string): string => id.replace(/[^A-Za-z0-9_-]/g, "_");

function safe(filename: string): string {
  // Systems that drop dots and blanks at the end would make one name of two.
  const name = shortened(filename.toWellFormed().replace(unsafe, "_").normalize("NFC")).replace(/[. ]+$/, "");
  return name === "" ? "file" : name;
}

/** The beginning of a name that is too long, and its extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= nameBytes) return name;
  const dot = name.lastIndexOf(".");
  const end = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 32 ? name.slice(dot) : "";
  const start = Buffer.from(name).subarray(0, nameBytes - Buffer.byteLength(end));
  // A decoder that expects more leaves out a character of which a part is missing.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true }) + end;
}
