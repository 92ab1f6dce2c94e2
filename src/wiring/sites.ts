import type { Config } from "../config.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { type SiteVisits, siteVisits } from "../core/websites/visit.ts";
import type { SiteServer } from "../http/server.ts";
import type { SiteUrl } from "../rpc/website.ts";
import { siteHosts } from "../sites/host.ts";
import { siteServer } from "../sites/server.ts";
import type { Ground } from "./ground.ts";

/** Where sites are served: behind TLS, but for this machine's own names (docs/websites.md). */
export function siteUrlOf({ sitesDomain, port }: Pick<Config, "sitesDomain" | "port">): SiteUrl {
  const isLocal = /(^|\.)localhost$/.test(sitesDomain);
  const end = isLocal && port !== 80 ? `:${port}` : "";
  return (label) => `${isLocal ? "http" : "https"}://${label}.${sitesDomain}${end}`;
}

/** The websites of this process, and who comes to them. */
export interface Sites {
  readonly server: SiteServer;
  readonly visits: SiteVisits;
  readonly siteUrl: SiteUrl;
}

export function sitesOf({ config, store, clock, random, log }: Ground, blobs: Blobs): Sites {
  const { sitesDomain, baseUrl, consentUrl, appUrl } = config;
  const siteUrl = siteUrlOf(config);
  const visits = siteVisits({ store, clock, random });
  const hosts = siteHosts(sitesDomain, [baseUrl, consentUrl, appUrl]);
  return { siteUrl, visits, server: siteServer({ hosts, store, blobs, visits, siteUrl, consentUrl, log }) };
}
