import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Random } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { Website } from "./website.ts";

/** A ticket is good for so long, and a visit ends so long after its beginning. */
export const ticketMs = 60_000;
export const visitMs = 12 * 3_600_000;

/** A ticket of a team's website, used once, or the cookie that it was changed into; never its text. */
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
  /** Uses a ticket of a site up; null when it was used, is over, or is another site's. */
  redeem(digest: string, websiteId: string, now: number): Promise<Pick<SiteVisit, "accountId" | "spaceId"> | null>;
  /** Whether a visit of a site is under way, by somebody who is an active member of its team at this moment. */
  admits(digest: string, websiteId: string, now: number): Promise<boolean>;
  /** Forgets what ended before. */
  purge(before: number): Promise<void>;
}

/** Who comes to a team's website. */
export interface SiteVisits {
  /** A ticket for a member of the site's team; its text goes into an address once. */
  ticket(site: Pick<Website, "id" | "spaceId">, accountId: string): Promise<string>;
  /** The cookie that a ticket is changed into; null for one that is not good. */
  redeem(site: Pick<Website, "id">, ticket: string): Promise<string | null>;
  admits(site: Pick<Website, "id">, cookie: string): Promise<boolean>;
}

const newText = (random: Random): string => Buffer.from(random(32)).toString("base64url");
/** It has 256 random bits, so a plain hash is enough. */
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
  const begin = async (tx: Tx, visit: Omit<SiteVisit, "digest" | "expiresAt">, ms: number): Promise<string> => {
    const text = newText(random);
    await tx.siteVisits.insert({ ...visit, digest: digestOf(text), expiresAt: clock.now() + ms });
    return text;
  };
  return {
    ticket: ({ id: websiteId, spaceId }, accountId) =>
      store.change((tx) => begin(tx, { kind: "ticket", websiteId, accountId, spaceId }, ticketMs)),
    redeem: ({ id: websiteId }, ticket) =>
      store.change(async (tx) => {
        const holder = await tx.siteVisits.redeem(digestOf(ticket), websiteId, clock.now());
        return holder && begin(tx, { kind: "visit", websiteId, ...holder }, visitMs);
      }),
    admits: ({ id }, cookie) => store.siteVisits.admits(digestOf(cookie), id, clock.now()),
  };
}
