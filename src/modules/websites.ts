import { customDomainReader } from "../config/custom-domain.ts";
import { domains } from "../core/websites/domains.ts";
import { viewers } from "../core/websites/viewers.ts";
import { websites } from "../core/websites/websites.ts";
import type { IsCustomDomain } from "../http/admin.ts";
import { websiteHandlers } from "../rpc/website.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";

export const createWebsites: CreateModule = (context) => {
  const { clock, config, sites } = context;
  const ofSites = domains({ ...context, readDomain: customDomainReader(config) });
  const parts = {
    websites: websites(clock),
    viewers: viewers(clock),
    domains: ofSites,
    siteUrl: sites.siteUrl,
  };
  return { handlers: [websiteHandlers(parts)] };
};

/** For names as proxies write them: any case, with or without a dot at the end. */
export const customDomainCheck =
  ({ domains: { siteOf } }: Pick<ProcessContext["store"], "domains">): IsCustomDomain =>
  async (name) =>
    (await siteOf(name.toLowerCase().replace(/\.$/, ""))) !== null;
