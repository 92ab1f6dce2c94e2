import type { OAuthApp } from "./app.ts";

/** Scheme and host, port, and all the rest of a redirect to this machine (RFC 8252 7.3). */
const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/s;
const portMax = 65_535;

/**
 * Where an authorization may answer to: the asked URI if it is registered, character
 * by character, or the only registered one where none is asked; null where neither
 * (contract/oauth.md 1.5, 4). An app that says so may be called on any port of the loopback.
 */
export function redirectUriFor(app: Pick<OAuthApp, "redirectUris" | "loopbackAnyPort">, asked: string | null): string | null {
  const { redirectUris, loopbackAnyPort } = app;
  if (asked === null) return redirectUris.length === 1 ? (redirectUris[0] ?? null) : null;
  const fits = redirectUris.some((registered) => registered === asked || (loopbackAnyPort && sameButPort(registered, asked)));
  return fits ? asked : null;
}

function sameButPort(registered: string, asked: string): boolean {
  const [, host, , rest] = loopback.exec(registered) ?? [];
  const [, askedHost, port = "80", askedRest] = loopback.exec(asked) ?? [];
  return host !== undefined && host === askedHost && rest === askedRest && Number(port) > 0 && Number(port) <= portMax;
}
