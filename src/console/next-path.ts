const lengthMax = 2048;
/** Nobody's address is relevant: the text is only held against it. */
const origin = "http://own.invalid";

/**
 * Where somebody is led after signing in: a path of our own with its query, or null.
 * The answer is written anew from what a browser would make of the text, so that
 * nothing a browser repairs can lead elsewhere.
 *
 * @param base the path that all pages are below; empty for the root.
 */
export function nextPath(base: string, text: string): string | null {
  if (text.length > lengthMax || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  if (!URL.canParse(text, origin)) return null;
  const url = new URL(text, origin);
  if (url.origin !== origin || url.pathname.startsWith("//") || !url.pathname.startsWith(`${base}/`)) return null;
  return url.pathname + url.search;
}
