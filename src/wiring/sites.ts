import type { Config } from "../config.ts";
import type { SiteUrl } from "../rpc/website.ts";

/** Where sites are served: behind TLS, but for this machine's own names (docs/websites.md). */
export function siteUrlOf({ sitesDomain, port }: Pick<Config, "sitesDomain" | "port">): SiteUrl {
  const isLocal = /(^|\.)localhost$/.test(sitesDomain);
  const end = isLocal && port !== 80 ? `:${port}` : "";
  return (label) => `${isLocal ? "http" : "https"}://${label}.${sitesDomain}${end}`;
}
