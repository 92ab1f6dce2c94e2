import { invalidArgument } from "../failure.ts";

/** The parts of an absolute URI as they are written (RFC 3986 3), without normalization. */
export interface Uri {
  /** Lower case; `http`. */
  readonly scheme: string;
  /** Null without `//`. An authority may also be empty. */
  readonly authority: Authority | null;
}

interface Authority {
  readonly userinfo: string | null;
  /** As it is written; empty in `myapp:///cb`. */
  readonly host: string;
}

/**
 * Unreserved and reserved characters and complete escapes. A fragment's `#` is allowed: callers that forbid
 * it check for it.
 */
const characters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$/;
const form = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^#]*)(?:#[^#]*)?$/;
const authorityForm = /^(?:([^@[\]]*)@)?(\[[0-9A-Fa-f:.]+\]|[^@:[\]]*)(?::([0-9]*))?$/;
const portMax = 65_535;

/**
 * Parses an absolute URI by RFC 3986 and does not change it. `new URL` normalizes its
 * input, so the checked URI could differ from the one that a browser opens
 * (spec/decisions.md 29).
 *
 * @returns the parts, or the rule that the text breaks, to be read after the field's name.
 */
export function parseUri(text: string): Uri | string {
  if (!/^[\x21-\x7e]*$/.test(text))
    return "must have no white space, control characters or characters outside ASCII";
  if (text.includes("\\")) return "must have no backslash";
  const [, scheme, written, pathAndQuery = ""] = form.exec(text) ?? [];
  if (scheme === undefined) return "must be absolute, with a scheme";
  if (!characters.test(text) || /[[\]]/.test(pathAndQuery)) return "must be a valid URI (RFC 3986)";
  const authority = written === undefined ? null : readAuthority(written);
  return typeof authority === "string" ? authority : { scheme: scheme.toLowerCase(), authority };
}

function readAuthority(text: string): Authority | string {
  const [matched, userinfo = null, host = "", port = ""] = authorityForm.exec(text) ?? [];
  if (matched === undefined || Number(port) > portMax) return "must have a valid host and port (RFC 3986)";
  return { userinfo, host };
}

/** The rule that an http or https URI breaks; undefined if it leads to the host that it shows. */
export function findWebUrlFault(text: string, { authority }: Uri): string | undefined {
  if (!authority || authority.host === "") return "must have // and a host";
  if (authority.userinfo !== null) return "must have no user before the host";
  // `http://0x7f.1` and `http://%61.example` lead to other hosts than they show. An address in brackets has
  // many spellings.
  const read = URL.canParse(text) ? new URL(text).hostname : null;
  const isSameHost = read !== null && (read.startsWith("[") || read === authority.host.toLowerCase());
  return isSameHost ? undefined : "must have a host that browsers do not rewrite";
}

/** The hosts that are this machine, as a URI writes them. */
const loopbackHosts: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];

/**
 * The rule that a page's URL breaks, which must be https, or http on this machine; undefined for a valid one.
 */
export function findHttpsUrlFault(text: string): string | undefined {
  const uri = parseUri(text);
  if (typeof uri === "string") return uri;
  const host = uri.authority?.host.toLowerCase() ?? "";
  const isSecurePage = uri.scheme === "https" || (uri.scheme === "http" && loopbackHosts.includes(host));
  return isSecurePage ? findWebUrlFault(text, uri) : "must begin with https://, or http:// on this machine";
}

/** The operator's rules for addresses (spec/decisions.md 39). */
export interface AddressRules {
  /** Allows plain http to this machine. */
  readonly plainLoopback: boolean;
}

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks a webhook's URL and returns it as it is stored and signed: unchanged, except that
 * an empty path becomes `/` (spec/webhooks.md 11). The host's addresses are checked at each
 * connection, not here.
 *
 * @throws Failure `invalid_argument` at `path` for a URL that is not https, or has a user or a fragment.
 */
export function checkWebhookUrl(path: string, text: string, rules: AddressRules): string {
  const fault = webhookUrlFault(text, rules);
  if (fault !== undefined) throw invalidArgument(path, `is not a valid webhook URL: ${fault}`);
  return text.replace(/^([^/?]*\/\/[^/?]*)(?=\?|$)/, "$1/");
}

function webhookUrlFault(text: string, { plainLoopback }: AddressRules): string | undefined {
  const uri = parseUri(text);
  if (typeof uri === "string") return uri;
  if (text.includes("#")) return "must have no fragment";
  const isLoopback = loopbackHost.test(uri.authority?.host.toLowerCase() ?? "");
  const isSecure = uri.scheme === "https" || (plainLoopback && uri.scheme === "http" && isLoopback);
  return isSecure ? findWebUrlFault(text, uri) : "must begin with https://";
}
