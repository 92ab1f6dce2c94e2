import { isHttpsOrigin, originsMax } from "#core/oauth/https-origin.ts";
import { words } from "../words.ts";

const text = words(
  {
    none: "Enter at least one address.",
    many: "At most 20 addresses.",
    relative: "needs a scheme, for example https://app.example.com/callback",
    star: "must not contain *",
    fragment: "must not contain #",
    scheme: "has a scheme that is not allowed",
    form: "must not contain spaces, backslashes or letters outside ASCII",
    user: "must not contain a user name",
    host: "needs // and a host",
    origins: `At most ${originsMax} origins.`,
    origin: "must be an https origin as browsers send it, for example https://app.example.com",
  },
  {
    none: "Geben Sie mindestens eine Adresse an.",
    many: "Höchstens 20 Adressen.",
    relative: "braucht ein Schema, zum Beispiel https://app.example.com/callback",
    star: "darf kein * enthalten",
    fragment: "darf kein # enthalten",
    scheme: "hat ein Schema, das nicht erlaubt ist",
    form: "darf keine Leerzeichen, Backslashes oder Zeichen außerhalb von ASCII enthalten",
    user: "darf keinen Benutzernamen enthalten",
    host: "braucht // und einen Host",
    origins: `Höchstens ${originsMax} Herkünfte.`,
    origin: "muss eine https-Herkunft sein, wie Browser sie senden, zum Beispiel https://app.example.com",
  },
);

/** The addresses of a text with one in each line. */
export const linesOf = (lines: string): string[] =>
  lines
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/**
 * What is wrong with the redirect URIs, or undefined. It finds what people mistype; the server applies all
 * rules (spec/oauth.md 1.5).
 */
export function redirectFault(lines: string): string | undefined {
  const uris = linesOf(lines);
  if (uris.length === 0) return text.none;
  if (uris.length > 20) return text.many;
  for (const uri of uris) {
    const fault = faultOf(uri);
    if (fault) return `${uri} ${fault}`;
  }
  return;
}

function faultOf(uri: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(uri) || uri.includes("\\")) return text.form;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined) return text.relative;
  if (["javascript", "data", "file", "about", "vbscript"].includes(scheme)) return text.scheme;
  if (uri.includes("*")) return text.star;
  if (uri.includes("#")) return text.fragment;
  if (!/^https?$/.test(scheme)) return;
  if (!/^https?:\/\/[^/?]/i.test(uri)) return text.host;
  return /^https?:\/\/[^/?]*@/i.test(uri) ? text.user : undefined;
}

/** What is wrong with the origins of an app's pages, or undefined (spec/api.md 8.91). */
export function originsFault(lines: string): string | undefined {
  const origins = linesOf(lines);
  if (origins.length > originsMax) return text.origins;
  const fault = origins.find((origin) => !isHttpsOrigin(origin));
  return fault === undefined ? undefined : `${fault} ${text.origin}`;
}
