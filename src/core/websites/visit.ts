import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Random } from "../ids.ts";
import { purging } from "../processes/timed-job.ts";
import type { Store, Tx } from "../store.ts";
import type { SiteVisibility, Website } from "./website.ts";

/** A ticket is valid for one minute, and a visit for 12 hours. */
export const ticketMs = 60_000;
export const visitMs = 12 * 3_600_000;

/** Who may see a site that is not public: active members of its team, or its owner and the listed viewers. */
export type SiteAudience = Exclude<SiteVisibility, "public">;

/** A one-time ticket of a website, or the cookie that replaces it. Stores a digest, never the text. */
export interface SiteVisit {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly kind: "ticket" | "visit";
  readonly websiteId: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly expiresAt: number;
}

export interface SiteVisitRows {
  insert(visit: SiteVisit): Promise<void>;
  /** Uses a ticket of a site; null when it is used, expired, or of another site. */
  redeem(
    digest: string,
    websiteId: string,
    now: number,
  ): Promise<Pick<SiteVisit, "accountId" | "spaceId"> | null>;
  /** Whether the visit is valid, and its account may see a site of this audience now. */
  admits(digest: string, websiteId: string, audience: SiteAudience, now: number): Promise<boolean>;
  /** Whether an account may see a site of this audience. */
  maySee(accountId: string, websiteId: string, audience: SiteAudience): Promise<boolean>;
  /** Deletes rows that expired before the given time. */
  purge(before: number): Promise<void>;
}

/** Access to websites that are not public. */
export interface SiteVisits {
  /** Creates a ticket for an account that may see the site. Its text is sent once, in a URL. */
  ticket(site: Pick<Website, "id" | "spaceId">, accountId: string): Promise<string>;
  /** Exchanges a ticket for a cookie; null for an invalid ticket. */
  redeem(site: Pick<Website, "id">, ticket: string): Promise<string | null>;
  admits(site: Pick<Website, "id">, audience: SiteAudience, cookie: string): Promise<boolean>;
}

const newText = (random: Random): string => Buffer.from(random(32)).toString("base64url");
/** The text has 256 random bits, so a plain hash is enough. */
const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

export function siteVisits({
  store,
  clock,
  random,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}): SiteVisits {
  const insertNew = async (
    tx: Tx,
    visit: Omit<SiteVisit, "digest" | "expiresAt">,
    ms: number,
  ): Promise<string> => {
    const text = newText(random);
    await tx.siteVisits.insert({ ...visit, digest: digestOf(text), expiresAt: clock.now() + ms });
    return text;
  };
  return {
    ticket: ({ id: websiteId, spaceId }, accountId) =>
      store.change((tx) => insertNew(tx, { kind: "ticket", websiteId, accountId, spaceId }, ticketMs)),
    redeem: ({ id: websiteId }, ticket) =>
      store.change(async (tx) => {
        const holder = await tx.siteVisits.redeem(digestOf(ticket), websiteId, clock.now());
        return holder && insertNew(tx, { kind: "visit", websiteId, ...holder }, visitMs);
      }),
    admits: ({ id }, audience, cookie) =>
      store.siteVisits.admits(digestOf(cookie), id, audience, clock.now()),
  };
}

export const purgeVisits = purging("purge-visits", (tx, now) => tx.siteVisits.purge(now));
