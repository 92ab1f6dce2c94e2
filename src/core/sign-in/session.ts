import { createHash } from "node:crypto";
import type { MemberStatus, Role } from "../accounts/account.ts";
import type { Random } from "../ids.ts";

/** A session ends so long after its last use. */
export const sessionMs = 30 * 24 * 3_600_000;
/** That end is moved at most so often. */
export const renewAfterMs = 3_600_000;

/** A browser that is signed in, as one account in one of its spaces; never the cookie's text. */
export interface Session {
  readonly id: string;
  /** SHA-256 of the cookie's text, lower-case hex. */
  readonly digest: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly createdAt: number;
  /** When the person last proved who they are. */
  readonly provedAt: number;
  readonly expiresAt: number;
}

/** A session together with what decides whether it opens anything at this moment. */
export interface SessionHolder {
  readonly session: Session;
  readonly locale: string;
  readonly email: string;
  readonly name: string | null;
  /** The name of the session's team; null in a personal space. */
  readonly teamName: string | null;
  /** The person's place in the session's team; null in a personal space. */
  readonly member: { readonly role: Role; readonly status: MemberStatus; readonly delegated: boolean } | null;
}

export interface SessionRows {
  insert(session: Session): Promise<void>;
  /** One statement: session, account and membership. Null for a session in a team that the account never was in. */
  holder(digest: string): Promise<SessionHolder | null>;
  /** Moves a session's end, unless it was moved beyond `notAfter` already. */
  renew(id: string, expiresAt: number, notAfter: number): Promise<void>;
  /** The person has proved again who they are. */
  prove(id: string, provedAt: number): Promise<void>;
  end(id: string): Promise<void>;
  /** Ends every session of an account but one, in all of its spaces. */
  endOthers(accountId: string, keptId: string | null): Promise<void>;
  /** Ends every session of an account in one space. */
  endIn(accountId: string, spaceId: string): Promise<void>;
  /** Forgets what ended before. */
  purge(before: number): Promise<void>;
}

/** A new session's cookie: 32 random bytes in base64url. */
export const newSessionText = (random: Random): string => Buffer.from(random(32)).toString("base64url");

/** What is stored of a cookie: it has 256 random bits, so a plain hash is enough. */
export const sessionDigest = (text: string): string => createHash("sha256").update(text).digest("hex");
