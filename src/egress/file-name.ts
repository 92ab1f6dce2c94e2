import { MIMEType } from "node:util";

/**
 * What a server calls the file that it sends (RFC 6266: `filename*` before
 * `filename`), or else the last part of its address; null where neither names it.
 */
export const fileNameOf = (disposition: string | undefined, url: URL): string | null =>
  dispositionName(disposition ?? "") || lastPart(url) || null;

/** The media type alone, in lower case; null for none and for what is not one. */
export const mediaTypeOf = (header: string | undefined): string | null => parsed(header ?? "")?.essence ?? null;

/** Parameters of a disposition have the form of a media type's (RFC 9110 5.6.6). */
function dispositionName(header: string): string | undefined {
  const parameters = parsed(`x/${header.trim()}`)?.params;
  return extended(parameters?.get("filename*") ?? "") || utf8(parameters?.get("filename") ?? "");
}

/** `UTF-8''na%C3%AFve.txt` (RFC 8187). */
function extended(text: string): string | undefined {
  const [, charset = "", value = ""] = /^([^']*)'[^']*'(.*)$/.exec(text) ?? [];
  return charset.toLowerCase() === "utf-8" ? unescaped(value) : undefined;
}

/** Headers are read as ISO 8859-1; many servers send UTF-8 in them. */
function utf8(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

const lastPart = (url: URL): string | undefined => unescaped(url.pathname.slice(url.pathname.lastIndexOf("/") + 1));

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parsed(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}
