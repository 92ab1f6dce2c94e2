import type { Config } from "../config/config.ts";
import type { Blobs } from "../core/files/blob.ts";
import { siteVisits } from "../core/websites/visit.ts";
import type { SiteUrl } from "../rpc/website.ts";
import { createSiteOfDomain } from "../websites/custom-domains.ts";
import { createSiteServer, siteHostReader } from "../websites/server.ts";
import type { ProcessContext } from "./process-context.ts";

/** The websites of this process, and their visits. */
export function openSites({ config, store, clock, random, log }: ProcessContext, blobs: Blobs) {
  const { sitesDomain, baseUrl, consentUrl, appUrl } = config;
  const siteUrl = createSiteUrl(config);
  const visits = siteVisits({ store, clock, random });
  const hosts = siteHostReader(sitesDomain, [baseUrl, consentUrl, appUrl]);
  const siteOfDomain = createSiteOfDomain(store.domains, clock);
  return {
    siteUrl,
    visits,
    server: createSiteServer({ hosts, siteOfDomain, store, blobs, visits, siteUrl, consentUrl, log }),
  };
}

/** The URLs of sites: https, except for this machine's own names (docs/guides/websites.md). */
export function createSiteUrl({ sitesDomain, port }: Pick<Config, "sitesDomain" | "port">): SiteUrl {
  const isLocal = /(^|\.)localhost$/.test(sitesDomain);
  const end = isLocal && port !== 80 ? `:${port}` : "";
  return (label) => `${isLocal ? "http" : "https"}://${label}.${sitesDomain}${end}`;
}
