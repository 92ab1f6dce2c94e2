/** So much of a file is looked at. */
export const sniffBytes = 64 * 1024;

/**
 * The encoding of a text by its beginning, as `TextDecoder` names it: by its byte order mark, by what an HTML page says of
 * itself, by whether it is UTF-8, or else that of old Western files. Null for what is no text.
 */
export function charsetOf(beginning: Uint8Array): string | null {
  const [a, b, c] = beginning;
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (beginning.includes(0)) return wideCharset(beginning);
  const declared = declaredIn(beginning);
  if (declared !== undefined) return declared;
  return isUtf8(beginning) ? "utf-8" : hasControls(beginning) ? null : "windows-1252";
}

/** UTF-16 without a mark: in most languages a text has many characters below 256, so every other byte is often zero. */
function wideCharset(beginning: Uint8Array): string | null {
  const pairs = beginning.length >> 1;
  let low = 0;
  let high = 0;
  for (let i = 0; i < pairs * 2; i += 2) {
    if (beginning[i] === 0) high += 1;
    if (beginning[i + 1] === 0) low += 1;
  }
  if (low > pairs / 3 && high < pairs / 50) return "utf-16le";
  return high > pairs / 3 && low < pairs / 50 ? "utf-16be" : null;
}

/** `<meta charset=…>` and its older form, in the first bytes of a page (HTML 13.2.3.2). */
function declaredIn(beginning: Uint8Array): string | undefined {
  const head = Buffer.from(beginning.subarray(0, 1_024)).toString("latin1");
  const [, label = ""] = /<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_-]{2,30})/i.exec(head) ?? [];
  try {
    const { encoding } = new TextDecoder(label);
    return label === "" || encoding.startsWith("utf-16") ? undefined : encoding;
  } catch {
    return undefined;
  }
}

function isUtf8(beginning: Uint8Array): boolean {
  try {
    // The end may be half a character.
    new TextDecoder("utf-8", { fatal: true }).decode(beginning, { stream: true });
    return !hasControls(beginning);
  } catch {
    return false;
  }
}

/** Bytes that texts do not have, but for tabs, ends of lines and pages, and escapes of terminals. */
const hasControls = (bytes: Uint8Array): boolean =>
  bytes.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b);
