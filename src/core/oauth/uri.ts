/** The parts of an absolute URI as they are written (RFC 3986 3), nothing repaired. */
export interface Uri {
  /** Lower case; `http`. */
  readonly scheme: string;
  /** Null where there is no `//`, which is not the same as an empty one. */
  readonly authority: Authority | null;
}

interface Authority {
  readonly userinfo: string | null;
  /** As it is written; empty in `myapp:///cb`. */
  readonly host: string;
}

/** Unreserved and reserved characters and whole escapes; a fragment's `#` is left to whoever forbids it. */
const characters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const form = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^#]*)(?:#[^#]*)?$/;
const authorityForm = /^(?:([^@[\]]*)@)?(\[[0-9A-Fa-f:.]+\]|[^@:[\]]*)(?::([0-9]*))?$/;
const portMax = 65_535;

/**
 * Reads an absolute URI by RFC 3986, as the text that it is: `new URL` repairs what
 * it is given, so that what was checked would not be what a browser goes to
 * (contract/decisions.md 29).
 *
 * @returns the parts, or what is wrong with it, to be read after the field's name.
 */
export function readUri(text: string): Uri | string {
  if (!/^[\x21-\x7e]*$/.test(text)) return "must have no white space, control characters or characters outside ASCII";
  if (text.includes("\\")) return "must have no backslash";
  const [, scheme, written, pathAndQuery = ""] = form.exec(text) ?? [];
  if (scheme === undefined) return "must be absolute, with a scheme";
  if (!characters.test(text) || /[[\]]/.test(pathAndQuery)) return "must be a URI as RFC 3986 has it";
  const authority = written === undefined ? null : readAuthority(written);
  return typeof authority === "string" ? authority : { scheme: scheme.toLowerCase(), authority };
}

function readAuthority(text: string): Authority | string {
  const [whole, userinfo = null, host = "", port = ""] = authorityForm.exec(text) ?? [];
  if (whole === undefined || Number(port) > portMax) return "must have a host and a port as RFC 3986 has them";
  return { userinfo, host };
}

/** What is wrong with a URI of http or https; undefined for one that goes to the host that it shows. */
export function webFlaw(text: string, { authority }: Uri): string | undefined {
  if (!authority || authority.host === "") return "must have // and a host";
  if (authority.userinfo !== null) return "must have no user before the host";
  // `http://0x7f.1` and `http://%61.example` go elsewhere than they say; an address in brackets has many spellings.
  const read = URL.canParse(text) ? new URL(text).hostname : null;
  const same = read !== null && (read.startsWith("[") || read === authority.host.toLowerCase());
  return same ? undefined : "must have a host that browsers read as it is written";
}

/** The hosts that are this machine, as a URI writes them. */
const loopbackHosts: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];

/** What is wrong with a page: https, or http on this machine; undefined for a sound one. */
export function httpsFlaw(text: string): string | undefined {
  const uri = readUri(text);
  if (typeof uri === "string") return uri;
  const host = uri.authority?.host.toLowerCase() ?? "";
  const secure = uri.scheme === "https" || (uri.scheme === "http" && loopbackHosts.includes(host));
  return secure ? webFlaw(text, uri) : "must begin with https://, or http:// on this machine";
}
