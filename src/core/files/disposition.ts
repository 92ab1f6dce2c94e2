/**
 * Makes browsers save a file under its name instead of showing it (RFC 6266): the name
 * in ASCII for old clients, and whole in UTF-8 (RFC 8187).
 */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === filename ? plain : `${plain}; filename*=UTF-8''${encoded(filename)}`;
}

/** What RFC 8187 calls value-chars, and nothing else. */
const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
