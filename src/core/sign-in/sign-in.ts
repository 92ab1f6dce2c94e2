import { createHash } from "node:crypto";
import type { MemberStatus, Role } from "../accounts/account.ts";
import type { Random } from "../ids.ts";
import { purging } from "../processes/timed-job.ts";

/** A session ends 30 days after its last use. */
export const sessionMs = 30 * 24 * 3_600_000;
/** The end of a session is moved at most once per hour. */
export const renewAfterMs = 3_600_000;

/** A signed-in browser: one account in one of its spaces. Stores a digest of the cookie, never its text. */
export interface Session {
  readonly id: string;
  /** SHA-256 of the cookie's text, lower-case hex. */
  readonly digest: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly createdAt: number;
  /** When the person last proved their identity. */
  readonly provedAt: number;
  readonly expiresAt: number;
}

/** A session with all that decides whether it is valid now. */
export interface SessionHolder {
  readonly session: Session;
  readonly locale: string;
  readonly email: string;
  readonly name: string | null;
  /** The name of the session's team; null in a personal space. */
  readonly teamName: string | null;
  readonly operator: boolean;
  /** The person's membership in the session's team; null in a personal space. */
  readonly member: { role: Role; status: MemberStatus; delegated: boolean } | null;
}

export interface OwnSession extends Pick<Session, "id" | "createdAt" | "expiresAt"> {
  /** The name of the session's team; null in a personal space. */
  readonly teamName: string | null;
}

export interface SessionRows {
  insert(session: Session): Promise<void>;
  /**
   * One statement: session, account and membership. Null for a session in a team that never had the account
   * as a member.
   */
  holder(digest: string): Promise<SessionHolder | null>;
  /** The same by the session's id, for addresses that the session has made. */
  holderById(id: string): Promise<SessionHolder | null>;
  /** Moves the end of a session, unless it is later than `notAfter` already. */
  renew(id: string, expiresAt: number, notAfter: number): Promise<void>;
  /**
   * Moves the end of a valid session to 30 days after a use, unless a use less than `everyMs` before it has
   * been recorded.
   */
  recordUse(id: string, at: number, everyMs: number): Promise<void>;
  /** Records that the person proved their identity again. */
  recordProof(id: string, provedAt: number): Promise<void>;
  /**
   * Moves a session of this account that is valid at `now` from one space to another; false when it acts in
   * another space by now, or has ended.
   */
  move(
    session: Pick<Session, "id" | "accountId">,
    spaces: { from: string; to: string },
    now: number,
  ): Promise<boolean>;
  end(id: string): Promise<void>;
  /** The sessions of an account that are valid at `now`, in all of its spaces, newest first. */
  listOwn(accountId: string, now: number, max: number): Promise<readonly OwnSession[]>;
  /** Ends a session of this account that is valid at `now`; false when there is none. */
  endOwn(accountId: string, id: string, now: number): Promise<boolean>;
  /** Ends every session of an account but one, in all of its spaces. */
  endOthers(accountId: string, keptId: string | null): Promise<void>;
  /** Ends every session of an account in one space. */
  endIn(accountId: string, spaceId: string): Promise<void>;
  /** Those that ended before the given time. */
  purge(before: number): Promise<void>;
}

/** The text of a new session's cookie: 32 random bytes in base64url. */
export const newSessionText = (random: Random): string => Buffer.from(random(32)).toString("base64url");

/** The stored form of a cookie. It has 256 random bits, so a plain hash is enough. */
export const sessionDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * A space that an account may sign in to now: its own, or that of a team in which it is active and not
 * delegated.
 */
export interface SignInSpace {
  readonly spaceId: string;
  /** Null for the personal space. */
  readonly team: { name: string; memberId: string; role: Role } | null;
}

/** Rows that prove an account's identity, and the spaces that it may sign in to. */
export interface SignInRows {
  /** The stored hash; null when the account has none or does not exist. */
  password(accountId: string): Promise<string | null>;
  setPassword(accountId: string, stored: string): Promise<void>;
  /** Null when there is none. */
  identity(accountId: string): Promise<Identity | null>;
  findByIdentity(identity: Identity): Promise<string | null>;
  /** Binds an account that has no identity; false when it has one. */
  bindIdentity(accountId: string, identity: Identity): Promise<boolean>;
  /** The personal space first, then teams by name. */
  listSpaces(accountId: string): Promise<readonly SignInSpace[]>;
  /** True once any account has signed in, or has what it can sign in with. */
  hasSignIns(): Promise<boolean>;
  /** Records a member's first sign-in (spec/decisions.md 5). */
  recordFirstSignIn(memberId: string, now: number): Promise<void>;
}

/** Deletes sessions that have ended. */
export const purgeSessions = purging("purge-sessions", (tx, now) => tx.sessions.purge(now));
