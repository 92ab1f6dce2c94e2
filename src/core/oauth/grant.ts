import type { ScopeName } from "./scope.ts";
import type { Standing } from "./standing.ts";

/** What a member lets an app do in the team's space: it is remembered, so that consent is not asked for twice. */
export interface OAuthGrant {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  /** Connectors that the user has granted. */
  readonly connectorUids: readonly string[];
  /** The app's when this was last approved. */
  readonly generation: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Whose grant to which app. */
export type GrantKey = Pick<OAuthGrant, "accountId" | "spaceId" | "clientId">;

/** What an approval changes of a grant. */
export type GrantChange = Pick<OAuthGrant, "id" | "scopes" | "connectorUids" | "generation" | "updatedAt">;

/** Living grants, one for each account, space and app; a revoked one is as if it had never been, and its tokens are dead. */
export interface GrantRows {
  find(key: GrantKey): Promise<OAuthGrant | null>;
  byId(id: string): Promise<OAuthGrant | null>;
  /** One statement: grant, app and membership, revoked and deleted ones too. */
  standing(id: string): Promise<Standing | null>;
  /** Grants of an account in a space, newest first. */
  list(accountId: string, spaceId: string): Promise<OAuthGrant[]>;
  /** The living grant with a lock on its row; the one that is given where there is none. */
  lock(grant: OAuthGrant): Promise<OAuthGrant>;
  update(change: GrantChange): Promise<void>;
  /** Kills its codes and tokens. False when there is no such living grant. */
  revoke(id: string, now: number): Promise<boolean>;
  /** All of an account's grants in a space; answers how many. */
  revokeAll(accountId: string, spaceId: string, now: number): Promise<number>;
}
