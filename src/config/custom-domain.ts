import { domainToASCII, domainToUnicode } from "node:url";
import { parse } from "tldts";
import type { Config } from "./config.ts";
import { siteOf } from "./sites.ts";

/**
 * A host name of at least two labels, as the DNS and certificates have it. The last label is not a number, so
 * addresses do not match.
 */
const hostName =
  /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Public suffixes of the list that websites cannot use: onion services and the reverse DNS. */
const unusable = /(^|\.)(onion|arpa)$/;

/** The settings with the platform's own names. */
type OwnNames = Pick<Config, "baseUrl" | "consentUrl" | "appUrl" | "sitesDomain">;

/**
 * Reads the name of a custom domain, in lower case and without a dot at the end; or returns the rule that it
 * breaks (spec/decisions.md 73). Browsers must treat the domain as another site than every name of the
 * platform, and no wildcard certificate or cookie of a public suffix may be involved.
 */
export function customDomainReader({ baseUrl, consentUrl, appUrl, sitesDomain }: OwnNames) {
  const own = [
    ...[baseUrl, consentUrl, appUrl].map((url) => new URL(url).hostname.replace(/\.$/, "")),
    sitesDomain,
  ];
  const ownSites = new Set([...own.map(siteOf), siteOf(`a.${sitesDomain}`)]);
  const isOurs = (domain: string) =>
    ownSites.has(siteOf(domain)) ||
    own.some((name) => name === domain || name.endsWith(`.${domain}`) || domain.endsWith(`.${name}`));

  return (text: string): { domain: string } | { fault: string } => {
    const domain = text.toLowerCase().replace(/\.$/, "");
    if (!hostName.test(domain))
      return {
        fault: "is not a host name in ASCII with at least two parts; leave out a port, a path and a wildcard",
      };
    // A label that begins with xn-- must decode to a name that encodes to it again (RFC 5891 4.4). Node
    // leaves an invalid label as it is.
    const unicode = domainToUnicode(domain);
    if (unicode.split(".").some((label) => label.startsWith("xn--")) || domainToASCII(unicode) !== domain)
      return { fault: "is not valid Punycode" };
    const { domain: registrable, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
    if (registrable === null || !(isIcann || isPrivate) || unusable.test(domain))
      return { fault: "is not below a public suffix; use a name such as www.example.com or example.com" };
    return isOurs(domain)
      ? {
          fault:
            "belongs to the site of this server's own addresses; use a name of another registrable domain",
        }
      : { domain };
  };
}
