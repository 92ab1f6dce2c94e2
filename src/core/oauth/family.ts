import type { MemberStatus, Role } from "../accounts/account.ts";
import type { ScopeName } from "./scope.ts";
import type { Standing } from "./standing.ts";

/** A token family together with what decides whether its access token opens anything at this moment. */
export interface TokenHolder {
  readonly familyId: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly locale: string;
  /** The `jti` of the living access token; null when there is none. */
  readonly accessId: string | null;
  /** Family, grant and app all live. */
  readonly lives: boolean;
  /** The app's generation when the family was authorized, and now; 0 once it is deleted. */
  readonly generation: number;
  readonly appGeneration: number;
  /** Token ∩ app: what was taken from the app is taken from its tokens. */
  readonly scopes: readonly ScopeName[];
  /** Grant ∩ app. */
  readonly connectorUids: readonly string[];
  /** The person's place in the app's team; null when there is none. */
  readonly member: { readonly role: Role; readonly status: MemberStatus } | null;
}

/** The pair that a family has at a time: the next one takes its place. */
export interface TokenPair {
  readonly accessId: string;
  readonly accessExpiresAt: number;
  /** SHA-256 of the refresh token, lower-case hex. */
  readonly refreshDigest: string;
  readonly refreshExpiresAt: number;
}

/** One authorization's tokens. */
export interface TokenFamily extends Omit<TokenPair, "accessId"> {
  readonly id: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** Those authorized. */
  readonly scopes: readonly ScopeName[];
  /** The app's when it was authorized. */
  readonly generation: number;
  /** The S256 challenge whose verifier a refresh has to show, where it has to show a secret too. */
  readonly challenge: string | null;
  /** A refresh has to show an active secret. */
  readonly needsSecret: boolean;
  /** Null once it is revoked. */
  readonly accessId: string | null;
  readonly createdAt: number;
}

/** The latest refresh of a family. */
export interface Rotation {
  /** SHA-256 of the refresh token that it took. */
  readonly digest: string;
  readonly at: number;
  /** The address that it came from. */
  readonly from: string;
}

/** A family and all that it stands on. */
export interface FamilyState {
  readonly family: TokenFamily;
  readonly rotation: Rotation | null;
  readonly revoked: boolean;
  readonly standing: Standing;
}

export interface FamilyRows {
  /** One statement: family, grant, app, account and membership. */
  holder(familyId: string): Promise<TokenHolder | null>;
  insert(family: TokenFamily): Promise<void>;
  /** One statement, as the holder's: what a refresh is judged by. */
  state(familyId: string): Promise<FamilyState | null>;
  /** Puts the next pair in the place of the one whose refresh token is `rotation.digest`. False when that is not the living one. */
  rotate(familyId: string, rotation: Rotation, next: TokenPair): Promise<boolean>;
  /** False when it was dead already. */
  revoke(familyId: string, now: number): Promise<boolean>;
  /** All of an account's in a space. */
  revokeOf(accountId: string, spaceId: string, now: number): Promise<void>;
  /** Revokes this access token alone. False when it is not the living one. */
  revokeAccess(familyId: string, accessId: string): Promise<boolean>;
  /** Forgets families that were revoked, or whose refresh token expired, before; answers how many. */
  purge(before: number): Promise<number>;
}
