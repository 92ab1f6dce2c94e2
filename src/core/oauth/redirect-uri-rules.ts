import { readUri, webFlaw } from "./uri.ts";

/** Schemes that a browser runs, or shows with another page's rights (contract/oauth.md 1.5). */
const forbiddenSchemes: readonly string[] = ["javascript", "data", "file", "about", "vbscript"];

/**
 * What is wrong with a redirect URI; undefined for one that may be registered. It is
 * kept and matched letter by letter (contract/oauth.md 1.5, contract/decisions.md 29).
 */
export function redirectUriFlaw(text: string): string | undefined {
  if (text.includes("*")) return "must have no *";
  if (text.includes("#")) return "must have no fragment";
  const uri = readUri(text);
  if (typeof uri === "string") return uri;
  if (forbiddenSchemes.includes(uri.scheme)) return `must not have the scheme ${uri.scheme}`;
  if (uri.authority?.userinfo != null) return "must have no user before the host";
  return uri.scheme === "http" || uri.scheme === "https" ? webFlaw(text, uri) : undefined;
}
