import { PublishStatus, type Website } from "#proto/website/v2/website_pb.ts";
import { shownText } from "../task/act-view.tsx";

/** What the console needs of a website: a row of the list and the status of a task's website both have it. */
export type Site = Pick<
  Website,
  "websiteId" | "title" | "publishStatus" | "siteUrls" | "versionId" | "visibility"
>;

export const isPublished = ({ publishStatus }: Site): boolean => publishStatus === PublishStatus.PUBLISHED;
export const isPublishing = ({ publishStatus }: Site): boolean => publishStatus === PublishStatus.PUBLISHING;

/**
 * Whether a version of the website is served: also while a newer one is deployed, and after that has failed.
 */
export const isOnline = (site: Site): boolean => site.siteUrls.length > 0 && site.versionId !== undefined;

export const nameOf = (site: Site): string => shownText(site.title || site.websiteId);

/** The colour of the state's badge. */
export const looks = { 0: "rest", 1: "rest", 2: "run", 3: "done", 4: "fail" } as const;
