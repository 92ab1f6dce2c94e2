import { loadConfig } from "../src/config/config.ts";
import type { ScopeName } from "../src/core/accounts/caller.ts";
import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { newSecret, type OAuthApp } from "../src/core/oauth/app.ts";
import { codeDigest, codeMs, codeText } from "../src/core/oauth/code.ts";
import { refreshTokens } from "../src/core/oauth/family.ts";
import { newPair } from "../src/core/oauth/issue.ts";
import { openInstallation } from "../src/start/installation.ts";
import type { Installed } from "./installed.ts";

/** The app's redirect URI; no browser opens it. */
export const redirectUri = "https://app.example/cb";
const scopes: readonly ScopeName[] = ["create_task", "manage_all_tasks"];

/** A refresh token, and its family as input for a floor. */
export interface SeededFamily {
  readonly refreshToken: string;
  readonly row: { readonly family_id: string; readonly digest: string };
}

/** A code, and its row as input for a floor. */
export interface SeededCode {
  readonly code: string;
  readonly row: Readonly<
    Record<"code_digest" | "client_id" | "grant_id" | "account_id" | "space_id", string>
  >;
}

/**
 * An app of the owner's team with a secret, and the owner's grant to it, written directly into the database.
 */
export interface SeededApp extends AsyncDisposable {
  readonly clientId: string;
  readonly secret: string;
  families(count: number): Promise<readonly SeededFamily[]>;
  codes(count: number): Promise<readonly SeededCode[]>;
}

export async function seedApp({ env, owner }: Installed): Promise<SeededApp> {
  const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
  const { store, cipher } = await openInstallation(loadConfig(env), ambient, async () => undefined);
  const making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
  const app = appOf(owner, making.now);
  const { clientId, generation } = app;
  const { secret, text } = newSecret(making, clientId);
  const { accountId, spaceId } = owner;
  const grantId = systemIds.short();
  await store.change(async (tx) => {
    await tx.apps.insert(app);
    await tx.apps.insertSecret(secret);
    const granted = { scopes, connectorUids: [], generation, createdAt: making.now, updatedAt: making.now };
    await tx.grants.lock({ id: grantId, accountId, spaceId, clientId, ...granted });
  });
  const base = { clientId, grantId, accountId, spaceId, scopes, challenge: null, generation, resource: null };
  const issuing = {
    ids: systemIds,
    refreshTokens: refreshTokens(cipher, systemIds),
    requestId: "req_bench",
    address: "127.0.0.1",
  };
  const columns = { client_id: clientId, grant_id: grantId, account_id: accountId, space_id: spaceId };

  function newFamily(now: number) {
    const id = systemIds.short();
    const { pair, refreshToken } = newPair({ ...issuing, now }, id, clientId);
    const seeded: SeededFamily = { refreshToken, row: { family_id: id, digest: pair.refreshDigest } };
    return { seeded, row: { ...base, ...pair, id, needsSecret: true, createdAt: now, service: false } };
  }

  function newCode(now: number) {
    const code = codeText(clientId, systemIds.short());
    const seeded: SeededCode = { code, row: { ...columns, code_digest: codeDigest(code) } };
    return {
      seeded,
      row: { ...base, digest: codeDigest(code), redirectUri, createdAt: now, expiresAt: now + codeMs },
    };
  }

  return {
    clientId,
    secret: text,
    async families(count) {
      const items = Array.from({ length: count }, () => newFamily(systemClock.now()));
      await store.change(async (tx) => {
        for (const { row } of items) await tx.families.insert(row);
      });
      return items.map(({ seeded }) => seeded);
    },
    async codes(count) {
      const items = Array.from({ length: count }, () => newCode(systemClock.now()));
      await store.change(async (tx) => {
        for (const { row } of items) await tx.codes.insert(row);
      });
      return items.map(({ seeded }) => seeded);
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const appOf = ({ accountId, spaceId }: Installed["owner"], now: number): OAuthApp => ({
  clientId: `client_${systemIds.short()}`,
  spaceId,
  creatorId: accountId,
  name: "bench",
  description: "",
  allowedOrigins: [],
  redirectUris: [redirectUri],
  homepageUrl: "https://app.example",
  webhookUrl: null,
  scopes,
  connectorUids: [],
  skillIds: [],
  confidentialOnly: false,
  loopbackAnyPort: false,
  deviceAuthorization: false,
  serviceAccountId: null,
  verified: true,
  generation: 1,
  createdAt: now,
  updatedAt: now,
});
