import { systemIds } from "../../src/core/ids.ts";
import type { AccessClaims, ReadAccessToken } from "../../src/core/oauth/access-token.ts";
import { type ScopeName, scopeNames } from "../../src/core/oauth/scope.ts";
import type { TestStore } from "./database.ts";
import { directly } from "./direct.ts";
import { sampleApp } from "./oauth.ts";
import { type Calling, callingWith, type Person, type Service } from "./service.ts";

const dayMs = 24 * 3_600_000;

/** An app that acts for somebody. */
export interface Token extends Calling {
  readonly clientId: string;
  readonly grantId: string;
  readonly familyId: string;
}

export interface TokenOptions {
  readonly scopes?: readonly ScopeName[];
  /** Granted ones. */
  readonly connectorUids?: readonly string[];
  /** An app that is there; a new one unless given. */
  readonly clientId?: string;
}

/** Reads tokens that are nothing but their claims. */
export const readPlainToken: ReadAccessToken = async (text) => {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString()) as AccessClaims;
  } catch {
    return null;
  }
};

/** Makes an app of somebody's team that may be let do everything. */
export async function newApp({ store }: Service, { accountId, spaceId }: Person, connectorUids: readonly string[] = []): Promise<string> {
  const app = sampleApp({ spaceId, creatorId: accountId, scopes: scopeNames, connectorUids });
  await store.change((tx) => tx.apps.insert(app));
  return app.clientId;
}

/** Lets an app act for somebody, past the pages. */
export async function tokenOf(service: Service, db: TestStore, person: Person, options: TokenOptions = {}): Promise<Token> {
  const { scopes = ["create_task"], connectorUids = [], clientId = await newApp(service, person, connectorUids) } = options;
  const { accountId, spaceId } = person;
  const [familyId, accessId] = [systemIds.short(), systemIds.short()];
  const app = await service.store.apps.find(clientId);
  const generation = app?.generation ?? 0;
  const now = Date.now();
  const fresh = { id: systemIds.short(), accountId, spaceId, clientId, scopes, connectorUids, generation, createdAt: now, updatedAt: now };
  const grant = await service.store.change(async (tx) => {
    const living = await tx.grants.lock(fresh);
    await tx.grants.update({ ...fresh, id: living.id });
    return living;
  });
  const expiresAt = now + 365 * dayMs;
  await directly(
    db,
    `INSERT INTO oauth_family (id, client_id, grant_id, account_id, space_id, scopes, generation, needs_secret,
       access_id, access_expires_at, refresh_digest, refresh_expires_at, created_at)
     VALUES ('${familyId}', '${clientId}', '${grant.id}', '${accountId}', '${spaceId}', '${JSON.stringify(scopes)}', ${generation}, false,
       '${accessId}', ${expiresAt}, '${familyId}', ${expiresAt}, ${now})`,
  );
  const text = Buffer.from(JSON.stringify({ familyId, accessId, generation, expiresAt })).toString("base64url");
  return { ...callingWith({ authorization: `Bearer ${text}` }, () => service.url), clientId, grantId: grant.id, familyId };
}
