import { createHash } from "node:crypto";
import { dayMs, purging } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import { isLinkText, linkDigest } from "./link.ts";
import type { IdentityProof } from "./start-session.ts";

/** Lifetime of a link that a person requested: 15 minutes. */
export const mailedLinkMs = 15 * 60_000;

/**
 * A link that a person requested by mail. It signs in the browser that asked, once. Stores digests, never the
 * texts.
 */
export interface MailedLink {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly accountId: string;
  /** `browserDigest` of the browser that asked. */
  readonly browser: string;
  /** The path of the page that follows, of at most 2,048 characters. */
  readonly next: string;
  readonly expiresAt: number;
}

export interface MailedLinkRows {
  insert(link: MailedLink): Promise<void>;
  /** Finds a link that can still be used, in any browser. */
  findOpen(digest: string, now: number): Promise<MailedLink | null>;
  /**
   * Marks a link as used; null when it is used, expired, unknown or of another browser. Of concurrent callers
   * one succeeds.
   */
  use(digest: string, browser: string, now: number): Promise<MailedLink | null>;
  useUp(accountId: string, now: number): Promise<void>;
  /** True when a link of this account was used at exactly this time. */
  wasUsedAt(accountId: string, at: number): Promise<boolean>;
  /** Those that expired before the given time. */
  purge(before: number): Promise<void>;
}

/** The stored form of a browser's secret, which has 256 random bits. */
export const browserDigest = (secret: string): string =>
  createHash("sha256").update(`browser ${secret}`).digest("hex");

/** Marks all open links of an account as used: invitations, and those that were requested. */
export async function useUpLinks(
  tx: Pick<Tx, "links" | "mailedLinks">,
  accountId: string,
  now: number,
): Promise<void> {
  await tx.links.useUp(accountId, null, now);
  await tx.mailedLinks.useUp(accountId, now);
}

/** The address of an account; null when it may sign in nowhere. */
export async function signInAddress(
  tx: Pick<Tx, "accounts" | "signIns">,
  accountId: string,
): Promise<string | null> {
  const [space] = await tx.signIns.listSpaces(accountId);
  return space === undefined ? null : ((await tx.accounts.profile(accountId, space.spaceId))?.email ?? null);
}

export interface UsedLink {
  readonly proven: IdentityProof;
  readonly email: string;
  readonly next: string;
}

/**
 * Uses a link in the browser that requested it, and marks the account's other ones as used. The proof is that
 * of a link: a second step follows where the account has one.
 *
 * @returns null for a link that is used, expired, unknown or of another browser, and for an account that may
 * sign in nowhere.
 */
export async function proveByMailedLink(
  tx: Tx,
  now: number,
  text: string,
  browser: string,
): Promise<UsedLink | null> {
  if (!isLinkText(text)) return null;
  const digest = linkDigest(text);
  const open = await tx.mailedLinks.findOpen(digest, now);
  // Lock order: account, then links, as for invitations.
  if (open) await tx.accounts.lock(open.accountId);
  const link = open && (await tx.mailedLinks.use(digest, browser, now));
  if (!link) return null;
  const { accountId, next } = link;
  await tx.mailedLinks.useUp(accountId, now);
  const email = await signInAddress(tx, accountId);
  return email === null
    ? null
    : { proven: { accountId, provedAt: now, by: "link", password: null }, email, next };
}

/** A used link is kept for a day, as those of `links`. */
export const purgeMailedLinks = purging("purge-mailed-links", (tx, now) => tx.mailedLinks.purge(now - dayMs));
