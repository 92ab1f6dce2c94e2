import type { Caller, ScopeName } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { OAuthApp } from "./app.ts";
import type { AuthorizationState } from "./family.ts";

/** The consent of a member to an app in the team's space. It is stored, so that consent is not requested twice. */
export interface OAuthGrant {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  /** The connectors that the user granted. */
  readonly connectorUids: readonly string[];
  /** The app's generation at the latest approval. */
  readonly generation: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The key of a grant. */
export type GrantKey = Pick<OAuthGrant, "accountId" | "spaceId" | "clientId">;

/** The fields that an approval changes. */
export type GrantChange = Pick<OAuthGrant, "id" | "scopes" | "connectorUids" | "generation" | "updatedAt">;

/** Active grants, one for each account, space and app. A revoked grant is not returned, and its tokens are invalid. */
export interface GrantRows {
  find(key: GrantKey): Promise<OAuthGrant | null>;
  byId(id: string): Promise<OAuthGrant | null>;
  /** One statement: grant, app and membership, also revoked and deleted ones. */
  findState(id: string): Promise<AuthorizationState | null>;
  /** Grants of an account in a space, newest first. */
  list(accountId: string, spaceId: string): Promise<OAuthGrant[]>;
  /** Returns the active grant with a lock on its row; inserts the argument when there is none. */
  lock(grant: OAuthGrant): Promise<OAuthGrant>;
  update(change: GrantChange): Promise<void>;
  /** Revokes the grant; its codes and tokens become invalid. False when there is no such active grant. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Revokes all of an account's grants in a space; returns how many. */
  revokeAll(accountId: string, spaceId: string, now: number): Promise<number>;
}

/** An app with the grant that the caller gave it. */
export interface AuthorizedApp {
  readonly app: OAuthApp;
  readonly grant: OAuthGrant;
}

/** The grants that the caller gave to apps in this space (spec/oauth.md 1.4). */
export interface AuthorizedApps {
  /** Newest first, without deleted apps. */
  list(tx: Tx, caller: Caller): Promise<readonly AuthorizedApp[]>;
  /** Revokes the grant: all codes and tokens that the app has for the caller become invalid. @throws Failure `not_found` */
  revoke(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

/** The grants that an account gave to apps in a space, newest first, without deleted apps. */
export async function listAuthorizedApps(
  { apps: appRows, grants }: Pick<Tx, "apps" | "grants">,
  { accountId, spaceId }: Pick<GrantKey, "accountId" | "spaceId">,
): Promise<readonly AuthorizedApp[]> {
  const apps = new Map((await appRows.list(spaceId)).map((app) => [app.clientId, app]));
  return (await grants.list(accountId, spaceId)).flatMap((grant) => {
    const app = apps.get(grant.clientId);
    return app ? [{ app, grant }] : [];
  });
}

export function authorizedApps(clock: Pick<Clock, "now">): AuthorizedApps {
  return {
    list: listAuthorizedApps,
    async revoke(tx, { accountId, spaceId }, clientId) {
      const grant = await tx.grants.find({ accountId, spaceId, clientId });
      const app = grant && (await tx.apps.find(clientId));
      if (!app || !(await tx.grants.revoke(grant.id, clock.now()))) throw notFound("grant");
      const { scopes, connectorUids } = grant;
      tx.audit.note({ subject: grant.id, before: { clientId, scopes, connectorUids } });
    },
  };
}
