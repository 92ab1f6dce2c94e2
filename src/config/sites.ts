import { getDomain } from "tldts";
import { z } from "zod";
import { variable } from "./variable.ts";

const domain = /^(?=.{1,200}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Websites that agents build. */
export const sites = {
  SITES_DOMAIN: variable({
    type: "host name",
    fallback: "localhost",
    rule: "a host name that is not of one site with CONSENT_URL: another registrable domain than its host has (ports do not count)",
    example: "example-sites.net",
    description:
      "Each website is served at `https://LABEL.SITES_DOMAIN`, or, below `localhost`, at `http://LABEL.localhost:PORT` for browsers on this machine. A name of your own needs wildcard DNS and TLS ([websites.md](websites.md)).",
    schema: z
      .string()
      .refine((text) => domain.test(text) && !/(^|\.)\d+$/.test(text))
      .transform((text) => text.toLowerCase()),
  }),
};

/** The registrable domain by the public suffix list as browsers know it; a host without one is a site by itself. */
const siteOf = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;

/**
 * Whether pages of a website could count as the platform's own to a browser: cookies with SameSite
 * would go with their requests (contract/decisions.md 35).
 */
export function isSameSite(sitesDomain: string, consentUrl: string): boolean {
  const ours = new URL(consentUrl).hostname.replace(/\.$/, "");
  return siteOf(`${"a".repeat(20)}.${sitesDomain}`) === siteOf(ours);
}
