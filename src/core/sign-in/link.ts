import { createHash } from "node:crypto";
import type { Random } from "../ids.ts";

/** A link can be used for so long. */
export const linkMs = 24 * 3_600_000;

/** A link that signs its account in to a space, once; never its text. */
export interface SignInLink {
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface LinkRows {
  insert(link: SignInLink): Promise<void>;
  /** A link that can still be used. */
  open(digest: string, now: number): Promise<SignInLink | null>;
  /** Uses a link up; null when it was used, is too old, or never was. Of all who try, one gets it. */
  use(digest: string, now: number): Promise<SignInLink | null>;
  /** The links of an account that can still be used: its open invitations. The newest comes first. */
  openOf(accountId: string, now: number): Promise<readonly SignInLink[]>;
  /** Uses up all that are open: those of one space, or of all. */
  useUp(accountId: string, spaceId: string | null, now: number): Promise<void>;
  /** True when a link of this account was used at this very time. */
  usedAt(accountId: string, at: number): Promise<boolean>;
  /** Forgets what could be used until then. */
  purge(before: number): Promise<void>;
}

/** A new link's secret: 32 random bytes in base64url. */
export const newLinkText = (random: Random): string => Buffer.from(random(32)).toString("base64url");

/** True for what can be a link's secret at all. */
export const isLinkText = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** What is stored of it: it has 256 random bits, so a plain hash is enough. */
export const linkDigest = (text: string): string => createHash("sha256").update(text).digest("hex");
