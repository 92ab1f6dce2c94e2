import { expect, test } from "vitest";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import type { OAuthApp } from "../../../src/core/oauth/app.ts";
import type { AuthorizationRequest } from "../../../src/core/oauth/authorization.ts";
import { codeDigest } from "../../../src/core/oauth/code.ts";
import { approve, declined, needsConsent } from "../../../src/core/oauth/consent.ts";
import type { Store } from "../../../src/core/store.ts";
import { ann } from "../../store/samples.ts";
import { describeOnEach, rowsIn, storeOfSuite } from "../../support/database.ts";
import { sampleApp } from "../../support/oauth.ts";

const one = "0b6f2c2e-5f0c-4a0f-9a57-0c7c2b7f6d11";
const two = "0b6f2c2e-5f0c-4a0f-9a57-0c7c2b7f6d12";

const requestOf = (app: OAuthApp, members: Partial<AuthorizationRequest> = {}): AuthorizationRequest => ({
  app,
  redirectUri: "https://app.example/cb?a=b",
  scopes: app.scopes,
  state: "s",
  challenge: null,
  prompt: null,
  issuer: "https://platform.test",
  ...members,
});

const approved = (store: Store, request: AuthorizationRequest, connectorUids: readonly string[] | null = null, now = 5000) =>
  store.change((tx) => approve(tx, { now, ids: systemIds, random: systemRandom }, { request, ...ann, connectorUids }));

const living = (store: Store, { clientId }: OAuthApp) => store.grants.find({ ...ann, clientId });

describeOnEach("an approval", (kind) => {
  const suite = storeOfSuite(kind);

  test("gives a code of the contract's form, for ten minutes, of which only the SHA-256 is kept (oauth.md 7)", async () => {
    const app = sampleApp();
    const { code, location } = await approved(suite.store, requestOf(app, { challenge: "c".repeat(43) }));
    expect(code).toMatch(new RegExp(`^code_${app.clientId}_[2-9A-HJ-NP-Za-km-z]{22}$`));
    expect(location).toBe(`https://app.example/cb?a=b&code=${code}&state=s&iss=${encodeURIComponent("https://platform.test")}`);
    expect(await suite.store.codes.find(codeDigest(code))).toMatchObject({
      ...{ clientId: app.clientId, ...ann, redirectUri: "https://app.example/cb?a=b", scopes: app.scopes, challenge: "c".repeat(43) },
      ...{ generation: 1, createdAt: 5000, expiresAt: 605_000, usedAt: null, familyId: null },
    });
    expect(
      JSON.stringify(await rowsIn(suite.url, "SELECT * FROM oauth_code"), (_, v) => (typeof v === "bigint" ? `${v}` : v)),
    ).not.toContain(code.slice(-22));
  });

  test("makes one grant of a hundred at once", async () => {
    const app = sampleApp();
    const all = await Promise.all(Array.from({ length: 100 }, () => approved(suite.store, requestOf(app))));
    expect(new Set(all.map(({ grantId }) => grantId)).size).toBe(1);
    expect(new Set(all.map(({ code }) => code)).size).toBe(100);
  });

  test("joins scopes, as far as the app still has them", async () => {
    const app = sampleApp({ scopes: ["create_task", "manage_all_tasks", "create_project"] });
    await approved(suite.store, requestOf(app, { scopes: ["manage_all_tasks", "create_task"] }));
    const less = { ...app, scopes: ["create_task", "create_project"] as const };
    await approved(suite.store, requestOf(less, { scopes: ["create_project"] }), null, 6000);
    expect(await living(suite.store, app)).toMatchObject({ scopes: ["create_task", "create_project"], createdAt: 5000, updatedAt: 6000 });
  });

  test("takes the connectors that were chosen in place of the earlier ones, none that is not the app's, and keeps them without a choice", async () => {
    const app = sampleApp({ scopes: ["use_connectors"], connectorUids: [one, two] });
    await approved(suite.store, requestOf(app), [one, two]);
    await approved(suite.store, requestOf(app), [two, two, "another"]);
    expect((await living(suite.store, app))?.connectorUids).toEqual([two]);
    await approved(suite.store, requestOf(app), null);
    expect((await living(suite.store, app))?.connectorUids).toEqual([two]);
    await approved(suite.store, requestOf(app), []);
    expect((await living(suite.store, app))?.connectorUids).toEqual([]);
  });

  test("after a revocation begins anew", async () => {
    const app = sampleApp();
    const first = await approved(suite.store, requestOf(app));
    expect(await suite.store.change((tx) => tx.grants.revoke(first.grantId, 7000))).toBe(true);
    expect(await suite.store.change((tx) => tx.grants.revoke(first.grantId, 7000))).toBe(false);
    expect(await living(suite.store, app)).toBeNull();
    const second = await approved(suite.store, requestOf(app, { scopes: ["create_task"] }));
    expect(second.grantId).not.toBe(first.grantId);
    expect((await living(suite.store, app))?.scopes).toEqual(["create_task"]);
  });

  test("is one account's, in one space", async () => {
    const app = sampleApp();
    await approved(suite.store, requestOf(app));
    expect(await suite.store.grants.find({ ...ann, accountId: "bo", clientId: app.clientId })).toBeNull();
    expect(await suite.store.grants.find({ ...ann, spaceId: "home", clientId: app.clientId })).toBeNull();
    expect((await suite.store.grants.list("ann", "home")).length).toBe(0);
    expect((await suite.store.grants.list("ann", "north")).some(({ clientId }) => clientId === app.clientId)).toBe(true);
  });

  test("notes what it changed for the audit log, without the code", async () => {
    const app = sampleApp();
    const [noted, { code }] = await suite.store.change(async (tx) => {
      const made = await approve(
        tx,
        { now: 1, ids: systemIds, random: systemRandom },
        { request: requestOf(app), ...ann, connectorUids: [] },
      );
      return [tx.audit.noted(), made] as const;
    });
    expect(noted.after).toEqual({ clientId: app.clientId, scopes: app.scopes, connectorUids: [] });
    expect(JSON.stringify(noted)).not.toContain(code);
  });

  test("is asked for once, and again only for more, after growth or a revocation, or at prompt=consent (oauth.md 13)", async () => {
    const app = sampleApp({ connectorUids: [one], scopes: ["create_task", "use_connectors"] });
    const { grantId } = await approved(suite.store, requestOf(app, { scopes: ["create_task"] }), []);
    const grant = await living(suite.store, app);
    expect(needsConsent(null, requestOf(app))).toBe(true);
    expect(needsConsent(grant, requestOf(app, { scopes: ["create_task"] }))).toBe(false);
    expect(needsConsent(grant, requestOf(app, { scopes: ["create_task"], prompt: "consent" }))).toBe(true);
    expect(needsConsent(grant, requestOf(app))).toBe(true);
    expect(needsConsent(grant, requestOf({ ...app, generation: 2 }, { scopes: ["create_task"] }))).toBe(true);
    await suite.store.change((tx) => tx.grants.revoke(grantId, 1));
    expect(needsConsent(await living(suite.store, app), requestOf(app, { scopes: ["create_task"] }))).toBe(true);
  });
});

test("a refusal goes back to the app as access_denied, with state and iss (RFC 6749 4.1.2.1, RFC 9207 2)", () => {
  const { searchParams } = new URL(declined(requestOf(sampleApp())));
  expect(Object.fromEntries(searchParams)).toMatchObject({ a: "b", error: "access_denied", state: "s", iss: "https://platform.test" });
});
