import type { Role } from "../../src/core/accounts/account.ts";
import { type KeyKind, type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import type { KeyRestrictions } from "../../src/core/keys/restrictions.ts";
import { mcpResource } from "../../src/core/oauth/resource.ts";
import type { TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import {
  codeFor,
  exchangeCode,
  issuer,
  postForm,
  putApp,
  refreshProof,
  type TestApp,
} from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { callV2 } from "../support/wires.ts";

/** The headers that carry a credential. */
export type CredentialHeaders = Readonly<Record<string, string>>;

/**
 * Every credential that a request may carry, of one team; the invalid ones were revoked or expired before.
 */
export interface Credentials {
  readonly owner: Person;
  key(kind: KeyKind): Promise<CredentialHeaders>;
  /** A general key of the owner with limits. */
  restrictedKey(restrictions: Partial<KeyRestrictions>): Promise<CredentialHeaders>;
  /** Null is a personal space. */
  keyOfRole(role: Role | null): Promise<CredentialHeaders>;
  sessionOfRole(role: Role | null): Promise<CredentialHeaders>;
  /** A token of an app with only these scopes. */
  token(scopes: readonly ScopeName[]): Promise<CredentialHeaders>;
  /** A token with which an app acts as itself. */
  serviceToken(): Promise<CredentialHeaders>;
  /** The same after the permission of the app has ended. */
  endedServiceToken(): Promise<CredentialHeaders>;
  revokedKey(): Promise<CredentialHeaders>;
  expiredKey(): Promise<CredentialHeaders>;
  removedMembersKey(): Promise<CredentialHeaders>;
  foreignToken(): Promise<CredentialHeaders>;
  expiredToken(): Promise<CredentialHeaders>;
  revokedToken(): Promise<CredentialHeaders>;
  /** A valid token whose audience is the MCP address. */
  mcpToken(): Promise<CredentialHeaders>;
  refreshedToken(): Promise<CredentialHeaders>;
  tokenOfRevokedGrant(): Promise<CredentialHeaders>;
  tokenOfDeletedApp(): Promise<CredentialHeaders>;
  tokenOfRemovedMember(): Promise<CredentialHeaders>;
  tokenOfEarlierGeneration(): Promise<CredentialHeaders>;
  endedSession(): Promise<CredentialHeaders>;
  expiredSession(): Promise<CredentialHeaders>;
  sessionFromElsewhere(): Promise<CredentialHeaders>;
}

const keyHeader = (key: string): CredentialHeaders => ({ "x-service-api-key": key });
const bearer = (token: string): CredentialHeaders => ({ authorization: `Bearer ${token}` });

interface Tokens {
  readonly of: TestApp;
  readonly person: Person;
  readonly access: string;
  readonly refresh: string;
}

async function tokensOf(
  service: Service,
  person: Person,
  scopes: readonly ScopeName[] = scopeNames,
  resource: string | null = null,
): Promise<Tokens> {
  const connectorUids = scopes.includes("use_connectors") ? ["bbb0df76-66bd-4a24-ae4f-2aac4750d90b"] : [];
  const of = await putApp(service, person, { scopes, connectorUids });
  const { body } = await exchangeCode(
    service,
    of,
    "pkce+secret",
    await codeFor(service, person, of, "pkce+secret", Date.now(), resource),
  );
  return { of, person, access: body.access_token, refresh: body.refresh_token };
}

/** @param database the service's database, for changes that only time or an administrator could make. */
export async function credentialsOf(service: Service, database: TestStore): Promise<Credentials> {
  const owner = await service.person();
  const { store } = service;

  const personOf = async (role: Role | null): Promise<Person> => {
    if (role === null) return service.person({ personal: true });
    return role === "owner" ? owner : service.person({ with: owner, role });
  };

  async function colleagueWho(
    role: Role,
    shows: (colleague: Person) => Promise<CredentialHeaders>,
  ): Promise<CredentialHeaders> {
    const colleague = await service.person({ with: owner, role });
    const shown = await shows(colleague);
    await runDirectly(
      database,
      `UPDATE membership SET status = 'removed' WHERE account_id = '${colleague.accountId}'`,
    );
    return shown;
  }

  /** A token that was valid until `end` revoked it. */
  async function tokenUntil(end: (tokens: Tokens) => Promise<unknown>): Promise<CredentialHeaders> {
    const tokens = await tokensOf(service, owner);
    const { status } = await callV2(service.url, "user.me", {}, { headers: bearer(tokens.access) });
    if (status !== 200) throw new Error("it never opened anything");
    await end(tokens);
    return bearer(tokens.access);
  }

  const posted = (path: string, { of }: Tokens, members: Readonly<Record<string, string>>) =>
    postForm(service.url, path, { ...refreshProof("pkce+secret", of), ...members });

  async function tokenOfElsewhere(elsewhere: Service, person?: Person): Promise<CredentialHeaders> {
    await using there = elsewhere;
    return bearer((await tokensOf(there, person ?? (await there.person()))).access);
  }

  async function sessionThen(statement: string): Promise<CredentialHeaders> {
    const { id, headers } = await owner.session();
    await runDirectly(database, `${statement} WHERE id = '${id}'`);
    return headers;
  }

  async function serviceTokenOf(): Promise<{ readonly clientId: string; readonly access: string }> {
    const { app, secret } = await putApp(service, owner, {
      scopes: scopeNames.filter((name) => name !== "use_connectors"),
      serviceAccountId: owner.accountId,
    });
    const members = { grant_type: "client_credentials", client_id: app.clientId, client_secret: secret };
    const { body } = await postForm(service.url, "/oauth/token", members);
    return { clientId: app.clientId, access: body.access_token };
  }

  return {
    owner,
    serviceToken: async () => bearer((await serviceTokenOf()).access),
    async endedServiceToken() {
      const { clientId, access } = await serviceTokenOf();
      await store.change((tx) => tx.families.revokeService(clientId, Date.now()));
      return bearer(access);
    },
    key: async (kind) => keyHeader((await service.person({ as: owner, with: owner, kind })).key),
    restrictedKey: async (restrictions) =>
      keyHeader((await service.person({ as: owner, with: owner, restrictions })).key),
    keyOfRole: async (role) => keyHeader((await personOf(role)).key),
    sessionOfRole: async (role) => (await (await personOf(role)).session()).headers,
    token: async (scopes) => bearer((await tokensOf(service, owner, scopes)).access),
    async revokedKey() {
      const { key, keyId } = await service.person({ as: owner, with: owner });
      await store.change((tx) => tx.keys.revoke(keyId, Date.now()));
      return keyHeader(key);
    },
    expiredKey: async () =>
      keyHeader((await service.person({ as: owner, with: owner, expiresAt: Date.now() - 1 })).key),
    removedMembersKey: () => colleagueWho("member", async ({ key }) => keyHeader(key)),
    mcpToken: async () => bearer((await tokensOf(service, owner, scopeNames, mcpResource(issuer))).access),
    foreignToken: async () => tokenOfElsewhere(await openService({ idle: true })),
    async expiredToken() {
      const dayAgo = { ...systemClock, now: () => systemClock.now() - 25 * 3_600_000 };
      return tokenOfElsewhere(await openService({ over: database, idle: true, clock: dayAgo }), owner);
    },
    revokedToken: () => tokenUntil((tokens) => posted("/oauth/revoke", tokens, { token: tokens.access })),
    refreshedToken: () =>
      tokenUntil((tokens) =>
        posted("/oauth/token", tokens, { grant_type: "refresh_token", refresh_token: tokens.refresh }),
      ),
    tokenOfRevokedGrant: () =>
      tokenUntil(async ({ of }) => {
        const grant = await store.grants.find({
          accountId: owner.accountId,
          spaceId: owner.spaceId,
          clientId: of.app.clientId,
        });
        await store.change((tx) => tx.grants.revoke(grant?.id ?? "", Date.now()));
      }),
    tokenOfDeletedApp: () =>
      tokenUntil(({ of }) => store.change((tx) => tx.apps.remove(of.app.clientId, Date.now()))),
    tokenOfRemovedMember: () =>
      colleagueWho("admin", async (colleague) => bearer((await tokensOf(service, colleague)).access)),
    tokenOfEarlierGeneration: () =>
      tokenUntil(({ of: { app } }) => store.change((tx) => tx.apps.update({ ...app, generation: 2 }))),
    endedSession: () => sessionThen("DELETE FROM session"),
    expiredSession: () => sessionThen("UPDATE session SET expires_at = 1"),
    sessionFromElsewhere: async () => ({
      ...(await owner.session()).headers,
      origin: "https://elsewhere.test",
    }),
  };
}
