import { expect, test } from "vitest";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import type { OAuthApp } from "../../../src/core/oauth/app.ts";
import type { AuthorizationRequest } from "../../../src/core/oauth/authorization.ts";
import { codeDigest } from "../../../src/core/oauth/code.ts";
import { approve, declinedLocation, requiresConsent } from "../../../src/core/oauth/consent.ts";
import type { Store } from "../../../src/core/store.ts";
import { ann } from "../../store/samples.ts";
import { describeOnOne, rowsIn, storeOfSuite } from "../../support/database.ts";
import { sample } from "../../support/depth.ts";
import { sampleApp } from "../../support/oauth.ts";

const one = "0b6f2c2e-5f0c-4a0f-9a57-0c7c2b7f6d11";
const two = "0b6f2c2e-5f0c-4a0f-9a57-0c7c2b7f6d12";

const createRequest = (app: OAuthApp, members: Partial<AuthorizationRequest> = {}): AuthorizationRequest => ({
  app,
  redirectUri: "https://app.example/cb?a=b",
  scopes: app.scopes,
  resource: null,
  state: "s",
  challenge: null,
  prompt: null,
  issuer: "https://platform.test",
  ...members,
});

const approveRequest = (
  store: Store,
  request: AuthorizationRequest,
  connectorUids: readonly string[] | null = null,
  now = 5000,
) =>
  store.change((tx) =>
    approve(tx, { now, ids: systemIds, random: systemRandom }, { request, ...ann, connectorUids }),
  );

const activeGrant = (store: Store, { clientId }: OAuthApp) => store.grants.find({ ...ann, clientId });

describeOnOne("an approval", (kind) => {
  const suite = storeOfSuite(kind);

  test("makes a code in the specified form, valid for ten minutes, and stores only its SHA-256 (spec/oauth.md 7)", async () => {
    const app = sampleApp();
    const { code, location } = await approveRequest(
      suite.store,
      createRequest(app, { challenge: "c".repeat(43) }),
    );
    expect(code).toMatch(new RegExp(`^code_${app.clientId}_[2-9A-HJ-NP-Za-km-z]{22}$`));
    expect(location).toBe(
      `https://app.example/cb?a=b&code=${code}&state=s&iss=${encodeURIComponent("https://platform.test")}`,
    );
    expect(await suite.store.codes.find(codeDigest(code))).toMatchObject({
      ...{
        clientId: app.clientId,
        ...ann,
        redirectUri: "https://app.example/cb?a=b",
        scopes: app.scopes,
        challenge: "c".repeat(43),
      },
      ...{ generation: 1, createdAt: 5000, expiresAt: 605_000, usedAt: null, familyId: null },
    });
    expect(
      JSON.stringify(await rowsIn(suite.url, "SELECT * FROM oauth_code"), (_, v) =>
        typeof v === "bigint" ? `${v}` : v,
      ),
    ).not.toContain(code.slice(-22));
  });

  test("made many times at once makes one grant", async () => {
    const app = sampleApp();
    const many = sample(100, 40);
    const all = await Promise.all(
      Array.from({ length: many }, () => approveRequest(suite.store, createRequest(app))),
    );
    expect(new Set(all.map(({ grantId }) => grantId)).size).toBe(1);
    expect(new Set(all.map(({ code }) => code)).size).toBe(many);
  });

  test("merges scopes that the app still has", async () => {
    const app = sampleApp({ scopes: ["create_task", "manage_all_tasks", "create_project"] });
    await approveRequest(suite.store, createRequest(app, { scopes: ["manage_all_tasks", "create_task"] }));
    const less = { ...app, scopes: ["create_task", "create_project"] as const };
    await approveRequest(suite.store, createRequest(less, { scopes: ["create_project"] }), null, 6000);
    expect(await activeGrant(suite.store, app)).toMatchObject({
      scopes: ["create_task", "create_project"],
      createdAt: 5000,
      updatedAt: 6000,
    });
  });

  test("replaces the connectors with the chosen ones that the app has, and keeps them without a choice", async () => {
    const app = sampleApp({ scopes: ["use_connectors"], connectorUids: [one, two] });
    await approveRequest(suite.store, createRequest(app), [one, two]);
    await approveRequest(suite.store, createRequest(app), [two, two, "another"]);
    expect((await activeGrant(suite.store, app))?.connectorUids).toEqual([two]);
    await approveRequest(suite.store, createRequest(app), null);
    expect((await activeGrant(suite.store, app))?.connectorUids).toEqual([two]);
    await approveRequest(suite.store, createRequest(app), []);
    expect((await activeGrant(suite.store, app))?.connectorUids).toEqual([]);
  });

  test("after a revocation starts over with a new grant", async () => {
    const app = sampleApp();
    const first = await approveRequest(suite.store, createRequest(app));
    expect(await suite.store.change((tx) => tx.grants.revoke(first.grantId, 7000))).toBe(true);
    expect(await suite.store.change((tx) => tx.grants.revoke(first.grantId, 7000))).toBe(false);
    expect(await activeGrant(suite.store, app)).toBeNull();
    const second = await approveRequest(suite.store, createRequest(app, { scopes: ["create_task"] }));
    expect(second.grantId).not.toBe(first.grantId);
    expect((await activeGrant(suite.store, app))?.scopes).toEqual(["create_task"]);
  });

  test("is for one account in one space", async () => {
    const app = sampleApp();
    await approveRequest(suite.store, createRequest(app));
    expect(await suite.store.grants.find({ ...ann, accountId: "bo", clientId: app.clientId })).toBeNull();
    expect(await suite.store.grants.find({ ...ann, spaceId: "home", clientId: app.clientId })).toBeNull();
    expect((await suite.store.grants.list("ann", "home")).length).toBe(0);
    expect(
      (await suite.store.grants.list("ann", "north")).some(({ clientId }) => clientId === app.clientId),
    ).toBe(true);
  });

  test("notes its change for the audit log, without the code", async () => {
    const app = sampleApp();
    const [noted, { code }] = await suite.store.change(async (tx) => {
      const made = await approve(
        tx,
        { now: 1, ids: systemIds, random: systemRandom },
        { request: createRequest(app), ...ann, connectorUids: [] },
      );
      return [tx.audit.notes(), made] as const;
    });
    expect(noted.after).toEqual({ clientId: app.clientId, scopes: app.scopes, connectorUids: [] });
    expect(JSON.stringify(noted)).not.toContain(code);
  });

  test("is requested once, and again only for more scopes, after an expansion or a revocation, or with prompt=consent (spec/oauth.md 13)", async () => {
    const app = sampleApp({ connectorUids: [one], scopes: ["create_task", "use_connectors"] });
    const { grantId } = await approveRequest(
      suite.store,
      createRequest(app, { scopes: ["create_task"] }),
      [],
    );
    const grant = await activeGrant(suite.store, app);
    expect(requiresConsent(null, createRequest(app))).toBe(true);
    expect(requiresConsent(grant, createRequest(app, { scopes: ["create_task"] }))).toBe(false);
    expect(requiresConsent(grant, createRequest(app, { scopes: ["create_task"], prompt: "consent" }))).toBe(
      true,
    );
    expect(requiresConsent(grant, createRequest(app))).toBe(true);
    expect(
      requiresConsent(grant, createRequest({ ...app, generation: 2 }, { scopes: ["create_task"] })),
    ).toBe(true);
    await suite.store.change((tx) => tx.grants.revoke(grantId, 1));
    expect(
      requiresConsent(await activeGrant(suite.store, app), createRequest(app, { scopes: ["create_task"] })),
    ).toBe(true);
  });
});

test("a refusal redirects to the app with access_denied, state and iss (RFC 6749 4.1.2.1, RFC 9207 2)", () => {
  const { searchParams } = new URL(declinedLocation(createRequest(sampleApp())));
  expect(Object.fromEntries(searchParams)).toMatchObject({
    a: "b",
    error: "access_denied",
    state: "s",
    iss: "https://platform.test",
  });
});
