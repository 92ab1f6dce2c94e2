import { getDomain } from "tldts";
import { z } from "zod";
import { switchSetting } from "./values.ts";
import { defineVariable } from "./variable.ts";

const domain =
  /^(?=.{1,200}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** Websites that agents build. */
export const sites = {
  SITES_DOMAIN: defineVariable({
    type: "host name",
    fallback: "localhost",
    rule: "a host name with another registrable domain than the host of CONSENT_URL (ports do not count)",
    example: "example-sites.net",
    description:
      "Each website is served at `https://LABEL.SITES_DOMAIN`; with `localhost`, at `http://LABEL.localhost:PORT` for browsers on this machine. Your domain needs wildcard DNS and TLS ([websites.md](../guides/websites.md)).",
    schema: z
      .string()
      .refine((text) => domain.test(text) && !/(^|\.)\d+$/.test(text))
      .transform((text) => text.toLowerCase()),
  }),
};

/** The web application for people. */
export const console = {
  CONSOLE: defineVariable({
    ...switchSetting,
    fallback: "on",
    example: "off",
    description:
      "Whether this server serves the console, the web application at CONSENT_URL ([console.md](../guides/console.md)). With `off`, its addresses answer 404; the API and the pages for sign-in and consent stay.",
  }),
};

/** The registrable domain by the public suffix list that browsers use; a host without one is its own site. */
export const siteOf = (host: string): string => getDomain(host, { allowPrivateDomains: true }) ?? host;

/**
 * Whether browsers would treat websites as same-site with the platform: their requests would then
 * carry SameSite cookies (spec/decisions.md 35).
 */
export function isSameSite(sitesDomain: string, consentUrl: string): boolean {
  const ours = new URL(consentUrl).hostname.replace(/\.$/, "");
  return siteOf(`${"a".repeat(20)}.${sitesDomain}`) === siteOf(ours);
}
