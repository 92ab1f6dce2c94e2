import type { Role } from "../accounts/account.ts";

/** Who an account is to its identity provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** A space that an account may sign in to now: its own, or that of a team in which it is active and not delegated. */
export interface Place {
  readonly spaceId: string;
  /** Null for the personal space. */
  readonly team: { readonly name: string; readonly memberId: string; readonly role: Role } | null;
}

/** What proves who an account is, and where it may sign in. */
export interface SignInRows {
  /** The stored hash; null where there is none, or no such account. */
  password(accountId: string): Promise<string | null>;
  setPassword(accountId: string, stored: string): Promise<void>;
  /** To whom the account is bound; null for nobody. */
  identity(accountId: string): Promise<Identity | null>;
  /** The account that is bound to this identity. */
  bound(identity: Identity): Promise<string | null>;
  /** Binds an account that is not bound; false when it is. */
  bind(accountId: string, identity: Identity): Promise<boolean>;
  /** Teams by their names, after the personal space. */
  places(accountId: string): Promise<readonly Place[]>;
  /** Notes the first sign-in of a member (contract/decisions.md 5). */
  signedIn(memberId: string, now: number): Promise<void>;
}
