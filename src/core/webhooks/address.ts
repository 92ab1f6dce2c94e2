import { invalid } from "../failure.ts";
import { readUri, webFlaw } from "../oauth/uri.ts";

/** What the operator allows of addresses (contract/decisions.md 39). */
export interface AddressRules {
  /** Plain http to this machine. */
  readonly plainLoopback: boolean;
}

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * A webhook's URL as it is kept and signed: letter by letter as it was given, only an
 * empty path becomes `/` (contract/webhooks.md 11). Where its host leads is looked at
 * by whoever connects, each time.
 *
 * @throws Failure `invalid` at `path` for what is not https, or has a user or a fragment.
 */
export function readAddress(path: string, text: string, rules: AddressRules): string {
  const flaw = addressFlaw(text, rules);
  if (flaw !== undefined) throw invalid(path, `is no address for webhooks: ${flaw}`);
  return text.replace(/^([^/?]*\/\/[^/?]*)(?=\?|$)/, "$1/");
}

function addressFlaw(text: string, { plainLoopback }: AddressRules): string | undefined {
  const uri = readUri(text);
  if (typeof uri === "string") return uri;
  if (text.includes("#")) return "must have no fragment";
  const isLoopback = loopbackHost.test(uri.authority?.host.toLowerCase() ?? "");
  const isSecure = uri.scheme === "https" || (plainLoopback && uri.scheme === "http" && isLoopback);
  return isSecure ? webFlaw(text, uri) : "must begin with https://";
}
