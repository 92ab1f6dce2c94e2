import { createHash } from "node:crypto";
import type { Random } from "../ids.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { dayMs, purging } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import type { Session } from "./sign-in.ts";
import { type IdentityProof, needsSecondStep, type RequestOrigin, startSession } from "./start-session.ts";

/** Lifetime of a link: 24 hours. */
export const linkMs = 24 * 3_600_000;
/** Lifetime of the link for the first sign-in of an installation: 15 minutes. */
export const firstLinkMs = 15 * 60_000;

/** A link that signs its account in to a space, once. Stores a digest, never the text. */
export interface SignInLink {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** It can be used only before the first sign-in (spec/decisions.md 90). */
  readonly isFirst: boolean;
}

export interface LinkRows {
  insert(link: SignInLink): Promise<void>;
  findOpen(digest: string, now: number): Promise<SignInLink | null>;
  /** Marks a link as used; null when it is used, expired or unknown. Of concurrent callers one succeeds. */
  use(digest: string, now: number): Promise<SignInLink | null>;
  /** The usable links of an account: its open invitations, newest first. */
  listOpen(accountId: string, now: number): Promise<readonly SignInLink[]>;
  /** Marks open links as used: those of one space, or of all when `spaceId` is null. */
  useUp(accountId: string, spaceId: string | null, now: number): Promise<void>;
  /** True when a link of this account was used at exactly this time. */
  wasUsedAt(accountId: string, at: number): Promise<boolean>;
  /** Those that expired before the given time. */
  purge(before: number): Promise<void>;
}

/** A new link's secret: 32 random bytes in base64url. */
export const newLinkText = (random: Random): string => Buffer.from(random(32)).toString("base64url");

/** True for a text that has the form of a link's secret. */
export const isLinkText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** The stored form of the secret. It has 256 random bits, so a plain hash is enough. */
export const linkDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

interface LinkTarget {
  readonly accountId: string;
  readonly spaceId: string;
}

/** Creates a link that signs an account in to a space, once. Returns its text, which is stored nowhere. */
export async function createLink(
  tx: Tx,
  { now, random }: Pick<CreationContext, "now" | "random">,
  { accountId, spaceId }: LinkTarget,
  { lifeMs = linkMs, isFirst = false }: { lifeMs?: number; isFirst?: boolean } = {},
): Promise<string> {
  const text = newLinkText(random);
  await tx.links.insert({
    digest: linkDigest(text),
    accountId,
    spaceId,
    createdAt: now,
    expiresAt: now + lifeMs,
    isFirst,
  });
  return text;
}

/** The setting that is written when the first link is used. */
export const firstSignInSetting = "first-sign-in";

export interface LinkSession {
  /** The cookie's text, returned only once. */
  readonly cookie: string;
  readonly isFirst: boolean;
}

/** A link that was used for an account with an authenticator app: a code of it comes next. */
export interface LinkProof {
  readonly proven: IdentityProof;
  readonly spaceId: string;
}

/** The link cannot be used. The answer does not reveal why. */
class UnusableLink extends Error {}

/**
 * Uses a link and signs its account in. Marks the account's other links to this space as used
 * too. The link stays usable when the account may not sign in.
 *
 * @param change runs the transaction: it rolls back when the link is refused.
 * @returns null for a link that is used, expired or unknown.
 */
export async function signInByLink(
  change: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  newContext: () => CreationContext,
  text: string,
  request: { from: RequestOrigin; replaced: Session | null },
): Promise<LinkSession | LinkProof | null> {
  if (!isLinkText(text)) return null;
  try {
    return await change(async (tx) => {
      const context = newContext();
      const digest = linkDigest(text);
      const open = await tx.links.findOpen(digest, context.now);
      // Lock order: account, then links. Two links of one account would lock each other's rows otherwise.
      if (open) await tx.accounts.lock(open.accountId);
      const link = open && (await tx.links.use(digest, context.now));
      if (!link) throw new UnusableLink();
      await tx.links.useUp(link.accountId, link.spaceId, context.now);
      const proven = {
        accountId: link.accountId,
        provedAt: context.now,
        by: "link",
        password: null,
      } as const;
      if (await needsSecondStep(tx, proven)) return { proven, spaceId: link.spaceId };
      const cookie = await startSession(tx, context, proven, link.spaceId, request);
      if (cookie === null) throw new UnusableLink();
      if (link.isFirst) await tx.settings.put(firstSignInSetting, "done");
      return { cookie, isFirst: link.isFirst };
    });
  } catch (thrown) {
    if (thrown instanceof UnusableLink) return null;
    throw thrown;
  }
}

/** A used link is kept for a day: it shows how its session began. */
export const purgeLinks = purging("purge-links", (tx, now) => tx.links.purge(now - dayMs));
