import { MIMEType } from "node:util";
import mime from "mime";

/** A media type in lower case, without its parameters; undefined for what is none (RFC 9110 8.3.1). */
export function mediaType(text: string): string | undefined {
  try {
    return new MIMEType(text).essence;
  } catch {
    return undefined;
  }
}

/** A name for a file that came without one. */
export const nameFor = (contentType: string): string => `file.${mime.getExtension(contentType) ?? "bin"}`;
