import type { Scope } from "../accounts/caller.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { applyCaps, lowerCap, type Visibility } from "../visibility.ts";

/** Who may open a site (spec/api.md 9.12). */
export type SiteVisibility = Visibility;

/** The state of a site's publication (spec/api.md 9.12). */
export const publishStatuses = ["unpublished", "publishing", "published", "failed"] as const;
export type PublishStatus = (typeof publishStatuses)[number];

/** A website that a task's agent has built. Times are Unix milliseconds. */
export interface Website {
  readonly id: string;
  readonly spaceId: string;
  readonly accountId: string;
  readonly taskId: string;
  /** 20 lower-case base32 characters: the first part of its host name. */
  readonly label: string;
  readonly title: string;
  readonly visibility: SiteVisibility;
  /** The operator's cap on the visibility; null for none. */
  readonly maxVisibility: SiteVisibility | null;
  /** The team's cap on the visibility; null for none. Both caps apply. */
  readonly teamMax: SiteVisibility | null;
  readonly status: PublishStatus;
  /** When `status` last changed; null before the first publication. */
  readonly statusAt: number | null;
  readonly liveId: string | null;
  /** The checkpoint that is being published, and its visibility. */
  readonly publishingId: string | null;
  readonly publishingAs: SiteVisibility | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

type Caps = Pick<Website, "maxVisibility" | "teamMax">;

/** The lower one of the operator's and the team's; null for none. */
export const effectiveCap = ({ maxVisibility, teamMax }: Caps): SiteVisibility | null =>
  lowerCap(maxVisibility, teamMax);

/** The current visibility of a site: a cap applies as soon as it is set. */
export const effectiveSiteVisibility = (site: Pick<Website, "visibility"> & Caps): SiteVisibility =>
  applyCaps(site.visibility, effectiveCap(site));

/**
 * Whether no visitor may open a site: none of its checkpoints is online, or a cap of `private` is set
 * (spec/decisions.md 71).
 */
export const isOffline = (site: Pick<Website, "liveId"> & Caps): boolean =>
  site.liveId === null || effectiveCap(site) === "private";

const base32 = "abcdefghijklmnopqrstuvwxyz234567";
const labelLength = 20;

export const isLabel = (text: string): boolean => /^[a-z2-7]{20}$/.test(text);

/** A new label: 100 random bits, so that the address of a site cannot be guessed. */
const newLabel = (random: Random): string =>
  Array.from(random(labelLength), (byte) => base32[byte % 32]).join("");

/** The website of a task, also before its first checkpoint. */
export type SiteOf = (task: { readonly id: string; readonly spaceId: string }) => Promise<{
  readonly label: string;
  readonly url: string;
  /** The cap on its visibility; null for none. */
  readonly cap: SiteVisibility | null;
  /** False in a personal space. */
  readonly hasTeam: boolean;
}>;

export const taskSites =
  (store: Pick<Tx, "websites" | "accounts">, urlOf: (label: string) => string, random: Random): SiteOf =>
  async ({ id, spaceId }) => {
    const [site, team] = await Promise.all([store.websites.ofTask(id), store.accounts.teamOf(spaceId)]);
    const label = site?.label ?? newLabel(random);
    return { label, url: urlOf(label), cap: site && effectiveCap(site), hasTeam: team !== null };
  };

export interface NewSite extends Pick<Website, "spaceId" | "accountId" | "taskId" | "title"> {
  readonly now: number;
  readonly ids: Pick<Ids, "short">;
  readonly random: Random;
}

/** A site before its first publication: only its owner may open it (spec/api.md 14.5). */
export const newWebsite = ({ now, ids, random, ...of }: NewSite): Website => ({
  ...of,
  id: ids.short(),
  label: newLabel(random),
  visibility: "private",
  maxVisibility: null,
  teamMax: null,
  status: "unpublished",
  statusAt: null,
  liveId: null,
  publishingId: null,
  publishingAs: null,
  createdAt: now,
  updatedAt: now,
});

/** The fields that can be changed without a deployment; absent fields stay as they are. */
export interface SiteEdit {
  readonly title?: string;
  readonly visibility?: SiteVisibility;
}

/** The part of a list of sites that a page has: after this site, newest first. */
export interface SitePage {
  readonly limit: number;
  readonly after?: Pick<Website, "createdAt" | "id">;
}

/** Rows of websites. A site is deleted with its task. */
export interface WebsiteRows {
  insert(site: Website): Promise<void>;
  /** The sites of an account in a space, newest first. */
  list(scope: Scope, page: SitePage): Promise<readonly Website[]>;
  byId(id: string): Promise<Website | null>;
  byLabel(label: string): Promise<Website | null>;
  /** The first site of a task, which is the task's website (spec/api.md 9.12). */
  ofTask(taskId: string): Promise<Website | null>;
  /** Finds a site and locks its row until this change ends. */
  lock(id: string): Promise<Website | null>;
  /** Begins to publish a checkpoint; a publication in progress is abandoned. */
  begin(
    id: string,
    deployment: { checkpointId: string; visibility: SiteVisibility },
    now: number,
  ): Promise<void>;
  /**
   * Makes the checkpoint live, with the visibility of its publication, in one change; false when
   * another one or none is being published by now.
   */
  goLive(id: string, checkpointId: string, now: number): Promise<boolean>;
  /** Records that the deployment failed: the live checkpoint stays live. False as for `goLive`. */
  fail(id: string, checkpointId: string, now: number): Promise<boolean>;
  /** Takes the site offline, ends a publication in progress, and makes it private. */
  unpublish(id: string, now: number): Promise<void>;
  /** Sets title and visibility; the visibility also of a publication in progress. */
  edit(id: string, edit: SiteEdit, now: number): Promise<void>;
  /** Sets the operator's cap; null removes it. False for an unknown site. */
  setOperatorCap(id: string, most: SiteVisibility | null, now: number): Promise<boolean>;
  setTeamCap(id: string, most: SiteVisibility, now: number): Promise<void>;
  /**
   * Deletes a site with its checkpoints, visits, viewers and domains, and drops its blobs. In a team, a site
   * that was published leaves a tombstone: a share of a deleted object (spec/enterprise.md 9.2).
   */
  delete(id: string, now: number, personal: boolean): Promise<void>;
  /** Deletes a task's sites, each as `delete`. */
  deleteOfTask(taskId: string, now: number, personal: boolean): Promise<void>;
}
