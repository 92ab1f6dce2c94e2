import type { Ids, Random } from "../ids.ts";
import { capped, lowest, type Visibility } from "../visibility.ts";

/** Who may open a site (contract/v2.md 9.12). */
export type SiteVisibility = Visibility;

/** How a site's publication stands (contract/v2.md 9.12). */
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
  /** The most that the operator allows; null for no cap. */
  readonly maxVisibility: SiteVisibility | null;
  /** The most that the team allows; null for no cap. Both caps hold. */
  readonly teamMax: SiteVisibility | null;
  readonly status: PublishStatus;
  /** When `status` last changed; null before the first publication was begun. */
  readonly statusAt: number | null;
  /** The checkpoint that is live. */
  readonly liveId: string | null;
  /** The checkpoint that is being published, and for whom. */
  readonly publishingId: string | null;
  readonly publishingAs: SiteVisibility | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

type Caps = Pick<Website, "maxVisibility" | "teamMax">;

/** The cap that counts: the lower one of the operator's and the team's; null for none. */
export const capOf = ({ maxVisibility, teamMax }: Caps): SiteVisibility | null => lowest(maxVisibility, teamMax);

/** Who may open a site now: a cap counts from the moment on at which it is set. */
export const effectiveVisibility = (site: Pick<Website, "visibility"> & Caps): SiteVisibility => capped(site.visibility, capOf(site));

const base32 = "abcdefghijklmnopqrstuvwxyz234567";
const labelLength = 20;

/** A label as they are made; others are nobody's. */
export const isLabel = (text: string): boolean => /^[a-z2-7]{20}$/.test(text);

/** A new label: 100 random bits, so that nobody meets a site whose address they were not given. */
export const newLabel = (random: Random): string => Array.from(random(labelLength), (byte) => base32[byte % 32]).join("");

/** What a new site is made from. */
export interface NewSite extends Pick<Website, "spaceId" | "accountId" | "taskId" | "title"> {
  readonly now: number;
  readonly ids: Pick<Ids, "short">;
  readonly random: Random;
}

/** A site before its first publication: nobody's but its owner's (contract/v2.md 14.5). */
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

/** What may be changed without a deployment; absent stays as it is. */
export interface SiteEdit {
  readonly title?: string;
  readonly visibility?: SiteVisibility;
}

/** Websites as they are kept. What is deleted with its task is gone. */
export interface WebsiteRows {
  insert(site: Website): Promise<void>;
  byId(id: string): Promise<Website | null>;
  byLabel(label: string): Promise<Website | null>;
  /** The first site of a task: it is the one that counts (contract/v2.md 9.12). */
  ofTask(taskId: string): Promise<Website | null>;
  /** The site as it is, and as it stays until this change ends. */
  lock(id: string): Promise<Website | null>;
  /** Begins to publish a checkpoint; what was being published before is not any more. */
  begin(id: string, deployment: { readonly checkpointId: string; readonly visibility: SiteVisibility }, now: number): Promise<void>;
  /**
   * The checkpoint goes live, with the visibility it was published for, in one change; false when
   * another is being published by now, or none.
   */
  goLive(id: string, checkpointId: string, now: number): Promise<boolean>;
  /** The deployment failed: what was live stays so. False as for `goLive`. */
  fail(id: string, checkpointId: string, now: number): Promise<boolean>;
  /** Title and visibility; the latter also of what is being published. */
  edit(id: string, edit: SiteEdit, now: number): Promise<void>;
  /** Sets the operator's cap; null lifts it. False for an unknown site. */
  cap(id: string, most: SiteVisibility | null, now: number): Promise<boolean>;
  /** Sets the team's cap. */
  capByTeam(id: string, most: SiteVisibility, now: number): Promise<void>;
  /**
   * Erases a task's sites with their checkpoints and visits, and drops their blobs. Of what was published a team
   * keeps a tombstone, which is a share of something that is gone (contract/enterprise.md 9.2).
   */
  eraseOf(taskId: string, now: number, personal: boolean): Promise<void>;
}
