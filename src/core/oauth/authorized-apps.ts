import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { OAuthApp } from "./app.ts";
import type { OAuthGrant } from "./grant.ts";

/** An app that the caller lets do something, and what that is. */
export interface AuthorizedApp {
  readonly app: OAuthApp;
  readonly grant: OAuthGrant;
}

/** What the caller lets apps do in this space (contract/oauth.md 1.4). */
export interface AuthorizedApps {
  /** Newest first; deleted apps are gone. */
  list(tx: Tx, caller: Caller): Promise<readonly AuthorizedApp[]>;
  /** Kills all tokens and codes that the app has of the caller. @throws Failure `absent` */
  revoke(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

export function authorizedApps(clock: Pick<Clock, "now">): AuthorizedApps {
  return {
    async list(tx, { accountId, spaceId }) {
      const apps = new Map((await tx.apps.list(spaceId)).map((app) => [app.clientId, app]));
      return (await tx.grants.list(accountId, spaceId)).flatMap((grant) => {
        const app = apps.get(grant.clientId);
        return app ? [{ app, grant }] : [];
      });
    },
    async revoke(tx, { accountId, spaceId }, clientId) {
      const grant = await tx.grants.find({ accountId, spaceId, clientId });
      const app = grant && (await tx.apps.find(clientId));
      if (!app || !(await tx.grants.revoke(grant.id, clock.now()))) throw absent("grant");
      const { scopes, connectorUids } = grant;
      tx.audit.note({ subject: grant.id, before: { clientId, scopes, connectorUids } });
    },
  };
}
