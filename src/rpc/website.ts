import type { MessageInitShape } from "@bufbuild/protobuf";
import { defined } from "../core/defined.ts";
import type { Tx } from "../core/store.ts";
import { visibilities } from "../core/visibility.ts";
import { type Checkpoint, checkpointStatuses } from "../core/websites/checkpoint.ts";
import type { SiteDomain } from "../core/websites/domain.ts";
import { domainStatuses, proofName } from "../core/websites/domain.ts";
import type { Domains } from "../core/websites/domains.ts";
import type { Viewer, Viewers } from "../core/websites/viewers.ts";
import { effectiveSiteVisibility, publishStatuses, type Website } from "../core/websites/website.ts";
import type { Websites } from "../core/websites/websites.ts";
import {
  CheckpointStatusSchema,
  PublishStatusSchema,
  type WebsiteCheckpointSchema,
  type WebsiteDomainSchema,
  WebsiteDomainStatusSchema,
  type WebsiteSchema,
  type WebsiteViewerSchema,
  WebsiteVisibilitySchema,
} from "../gen/proto/website/v2/website_pb.ts";
import {
  type GetWebsiteStatusResponseSchema,
  WebsiteService,
} from "../gen/proto/website/v2/website_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter, seconds } from "./wire-values.ts";

/** Names of enum values (spec/api.md 7.17, 9.12). */
const visibilityNames = enumConverter(WebsiteVisibilitySchema, visibilities);
const publishStatus = enumConverter(PublishStatusSchema, publishStatuses);
const checkpointStatus = enumConverter(CheckpointStatusSchema, [
  ...checkpointStatuses,
  "unspecified",
] as const);

const domainStatus = enumConverter(WebsiteDomainStatusSchema, domainStatuses);

export type SiteUrl = (label: string) => string;

/**
 * The wire form of a website.
 *
 * @param domains its active custom domains, in the order of their activation.
 */
export const toStatus = (
  site: Website,
  siteUrl: SiteUrl,
  domains: readonly string[] = [],
): MessageInitShape<typeof GetWebsiteStatusResponseSchema> => ({
  websiteId: site.id,
  publishStatus: publishStatus.toValue(site.status),
  siteUrls:
    site.status === "published" ? [siteUrl(site.label), ...domains.map((domain) => `https://${domain}`)] : [],
  ...(site.liveId === null ? {} : { versionId: site.liveId }),
  ...(isFirstPublication(site) || site.statusAt === null ? {} : { statusUpdatedAt: seconds(site.statusAt) }),
  visibility: visibilityNames.toValue(effectiveSiteVisibility(site)),
  title: site.title,
});

/** A site that was taken down has no live checkpoint either, but the status `unpublished`. */
const isFirstPublication = ({ liveId, status }: Website): boolean =>
  liveId === null && status !== "unpublished";

const toListed = (
  site: Website,
  siteUrl: SiteUrl,
  domains: readonly string[],
): MessageInitShape<typeof WebsiteSchema> => {
  const { $typeName: _, ...status } = toStatus(site, siteUrl, domains);
  return {
    ...status,
    taskId: site.taskId,
    createdAt: seconds(site.createdAt),
    updatedAt: seconds(site.updatedAt),
  };
};

const toViewer = ({ email, createdAt }: Viewer): MessageInitShape<typeof WebsiteViewerSchema> => ({
  email,
  createdAt: seconds(createdAt),
});

const toDomain = (domain: SiteDomain): MessageInitShape<typeof WebsiteDomainSchema> => ({
  domain: domain.domain,
  status: domainStatus.toValue(domain.status),
  txtName: proofName(domain.domain),
  txtValue: domain.token,
  createdAt: seconds(domain.createdAt),
  ...(domain.verifiedAt === null ? {} : { verifiedAt: seconds(domain.verifiedAt) }),
  ...(domain.checkedAt === null ? {} : { checkedAt: seconds(domain.checkedAt) }),
  failures: domain.failures,
});

export const toCheckpoint = (checkpoint: Checkpoint): MessageInitShape<typeof WebsiteCheckpointSchema> => ({
  versionId: checkpoint.id,
  message: checkpoint.message,
  status: checkpointStatus.toValue(checkpoint.status),
  createdAt: seconds(checkpoint.createdAt),
});

export interface WebsiteServiceParts {
  readonly websites: Websites;
  readonly viewers: Viewers;
  readonly domains: Domains;
  readonly siteUrl: SiteUrl;
}

/** The active custom domains of sites, by the id of the site. */
async function activeDomains(
  tx: Pick<Tx, "domains">,
  sites: readonly Website[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const published = sites.filter(({ status }) => status === "published").map(({ id }) => id);
  const active = published.length === 0 ? [] : await tx.domains.active(published);
  return new Map(
    Map.groupBy(active, ({ websiteId }) => websiteId)
      .entries()
      .map(([id, own]) => [id, own.map(({ domain }) => domain)]),
  );
}

/** The operations of websites (spec/api.md 8.29 to 8.32, 8.53 to 8.55). */
export function websiteHandlers({ websites, viewers, domains, siteUrl }: WebsiteServiceParts) {
  return implement(WebsiteService, {
    async getWebsiteStatus(tx, caller, which) {
      const site = await websites.status(tx, caller, which);
      return toStatus(site, siteUrl, (await activeDomains(tx, [site])).get(site.id));
    },
    async listWebsites(tx, caller, { limit = 20, cursor }) {
      const { items, next } = await websites.list(tx, caller, { limit, cursor });
      const active = await activeDomains(tx, items);
      const data = items.map((site) => toListed(site, siteUrl, active.get(site.id) ?? []));
      return { data, hasMore: next !== undefined, ...defined({ nextCursor: next }) };
    },
    async listWebsiteCheckpoints(tx, caller, which) {
      const { site, checkpoints } = await websites.checkpoints(tx, caller, which);
      const live = site.liveId === null ? {} : { publishedVersionId: site.liveId };
      return { websiteId: site.id, data: checkpoints.map(toCheckpoint), ...live };
    },
    async publishWebsite(tx, caller, { visibility, ...which }) {
      const requested = visibilityNames.toName(visibility ?? 0) ?? "public";
      const { site, checkpoint } = await websites.publish(tx, caller, which, requested);
      return { websiteId: site.id, versionId: checkpoint.id };
    },
    async updateWebsite(tx, caller, { title, visibility, ...which }) {
      const requested = visibilityNames.toName(visibility ?? 0);
      await websites.update(tx, caller, which, {
        ...defined({ title, visibility: requested }),
      });
      return {};
    },
    async unpublishWebsite(tx, caller, which) {
      await websites.unpublish(tx, caller, which);
      return {};
    },
    async deleteWebsite(tx, caller, which) {
      await websites.delete(tx, caller, which);
      return {};
    },
    async rollbackWebsite(tx, caller, { versionId, ...which }) {
      const { site, checkpoint } = await websites.rollBack(tx, caller, which, versionId);
      return { websiteId: site.id, versionId: checkpoint.id };
    },
    async listWebsiteViewers(tx, caller, which) {
      return { data: (await viewers.list(tx, caller, which)).map(toViewer) };
    },
    async addWebsiteViewers(tx, caller, { emails, ...which }) {
      return { data: (await viewers.add(tx, caller, which, emails)).map(toViewer) };
    },
    async removeWebsiteViewers(tx, caller, { emails, ...which }) {
      return { data: (await viewers.remove(tx, caller, which, emails)).map(toViewer) };
    },
    async listWebsiteDomains(tx, caller, which) {
      return { data: (await domains.list(tx, caller, which)).map(toDomain) };
    },
    async linkWebsiteDomain(tx, caller, { domain, ...which }) {
      return { domain: toDomain(await domains.link(tx, caller, which, domain)) };
    },
    verifyWebsiteDomain: {
      async prepare({ domain, ...which }, caller, gone) {
        const verify = await domains.verify(caller, which, domain, gone);
        return async (tx) => ({ domain: toDomain(await verify(tx)) });
      },
    },
    async unlinkWebsiteDomain(tx, caller, { domain, ...which }) {
      await domains.unlink(tx, caller, which, domain);
      return {};
    },
  });
}
