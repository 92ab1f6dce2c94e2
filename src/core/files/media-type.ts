import { MIMEType } from "node:util";
import { Mime } from "mime";
import otherTypes from "mime/types/other.js";
import standardTypes from "mime/types/standard.js";

/**
 * TypeScript has no registered media type: IANA's registry gives `.ts` to MPEG transport streams (`video/mp2t`), and some systems give
 * it to Qt's translations. Here source code is the likely file. `text/typescript` is named after the registered `text/javascript`
 * (RFC 9239), and software that does not know a type of `text` treats it as plain text (RFC 2046 4.1.4); browsers never run it as a script.
 */
const typeScript = "text/typescript";
const typeScriptExtensions = ["ts", "tsx", "mts", "cts"];

const types = new Mime(standardTypes, otherTypes).define({ [typeScript]: typeScriptExtensions }, true);

/** What servers and browsers guess that a file is by the extension `.ts` alone. */
const guessedOfTs: readonly string[] = ["video/mp2t", "video/vnd.dlna.mpeg-tts", "text/vnd.trolltech.linguist"];

/** A media type in lower case, without its parameters; undefined for what is none (RFC 9110 8.3.1). */
export function mediaType(text: string): string | undefined {
  try {
    return new MIMEType(text).essence;
  } catch {
    return undefined;
  }
}

/** A name for a file that came without one. */
export const nameFor = (contentType: string): string => `file.${types.getExtension(contentType) ?? "bin"}`;

/** The media type that an extension tells of. */
export const typeOfExtension = (extension: string): string => types.getType(`file.${extension}`) ?? "application/octet-stream";

/** The media type that the sender of a file states, unless it is a guess by an extension that means something else here. */
export const statedType = (stated: string, extension: string): string =>
  typeScriptExtensions.includes(extension) && guessedOfTs.includes(stated) ? typeScript : stated;
