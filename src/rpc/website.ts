import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { visibilities } from "../core/visibility.ts";
import { type Checkpoint, checkpointStatuses } from "../core/websites/checkpoint.ts";
import { effectiveSiteVisibility, publishStatuses, type Website } from "../core/websites/website.ts";
import type { Websites } from "../core/websites/websites.ts";
import {
  CheckpointStatusSchema,
  PublishStatusSchema,
  type WebsiteCheckpointSchema,
  WebsiteVisibilitySchema,
} from "../gen/proto/website/v2/website_pb.ts";
import type { GetWebsiteStatusResponseSchema, WebsiteService } from "../gen/proto/website/v2/website_service_pb.ts";
import { enumConverter, seconds } from "./wire-values.ts";

/** Names of enum values (spec/api.md 7.17, 9.12). */
const visibilityNames = enumConverter(WebsiteVisibilitySchema, visibilities);
const publishStatus = enumConverter(PublishStatusSchema, publishStatuses);
const checkpointStatus = enumConverter(CheckpointStatusSchema, [...checkpointStatuses, "unspecified"] as const);

/** Returns the URL of a site with this label. */
export type SiteUrl = (label: string) => string;

/** The wire form of a website. */
export const toStatus = (site: Website, siteUrl: SiteUrl): MessageInitShape<typeof GetWebsiteStatusResponseSchema> => ({
  websiteId: site.id,
  publishStatus: publishStatus.toValue(site.status),
  siteUrls: site.status === "published" ? [siteUrl(site.label)] : [],
  ...(site.liveId === null ? {} : { versionId: site.liveId }),
  ...(site.liveId === null || site.statusAt === null ? {} : { statusUpdatedAt: seconds(site.statusAt) }),
  visibility: visibilityNames.toValue(effectiveSiteVisibility(site)),
});

/** The wire form of a checkpoint. */
export const toCheckpoint = (checkpoint: Checkpoint): MessageInitShape<typeof WebsiteCheckpointSchema> => ({
  versionId: checkpoint.id,
  message: checkpoint.message,
  status: checkpointStatus.toValue(checkpoint.status),
  createdAt: seconds(checkpoint.createdAt),
});

/** website.status, listCheckpoints, publish and update (spec/api.md 8.29 to 8.32). */
export function websiteHandlers(websites: Websites, siteUrl: SiteUrl): Handlers<typeof WebsiteService> {
  return {
    async getWebsiteStatus(tx, caller, which) {
      return toStatus(await websites.status(tx, caller, which), siteUrl);
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
        ...(title === undefined ? {} : { title }),
        ...(requested === undefined ? {} : { visibility: requested }),
      });
      return {};
    },
  };
}
