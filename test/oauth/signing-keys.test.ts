import {
  createLocalJWKSet,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { signingKeys } from "../../src/core/oauth/signing-key.ts";
import { atRest } from "../support/at-rest.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnPostgres, nodesOf, openTestStore, rowsIn } from "../support/database.ts";
import { issuer, pairOf, putApp, refreshWith, replyOf, userMe } from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";

const day = 24 * 3_600_000;
const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;

const published = async (url: string): Promise<{ readonly kid: string }[]> =>
  (await replyOf(await fetch(`${url}/oauth/jwks`))).body.keys;

describeOnPostgres("signing keys", (kind) => {
  test("are replaced after 90 days; the old key is published for a day after its last token expires (spec/oauth.md 13)", async () => {
    const clock = stillClock();
    await using service = await openService({ database: kind, nodes: nodesOf(kind), idle: true, clock });
    const ann = await service.person();
    const of = await putApp(service, ann);
    const first = await pairOf(service, ann, of, "pkce", clock.now());
    const oldKid = kidOf(first.access_token);
    clock.step(29 * day);
    let { refresh_token, access_token } = first;
    for (let month = 0; month < 3; month++) {
      ({ refresh_token, access_token } = (await refreshWith(service, of, "pkce", refresh_token)).body);
      clock.step(20 * day);
    }
    clock.step(day - 1);
    ({ refresh_token, access_token } = (await refreshWith(service, of, "pkce", refresh_token)).body);
    expect(kidOf(access_token), "a millisecond before its time").toBe(oldKid);
    const lastOfOld = access_token;
    clock.step(1);
    const next = (await pairOf(service, ann, of, "pkce", clock.now())).access_token;
    const newKid = kidOf(next);
    expect(newKid).not.toBe(oldKid);
    for (const node of service.nodes) {
      expect((await published(node.url)).map(({ kid }) => kid)).toEqual([newKid, oldKid]);
      for (const token of [lastOfOld, next]) expect((await userMe(node.url, token)).status).toBe(200);
    }
    clock.step(2 * day - 1);
    expect((await published(service.url)).map(({ kid }) => kid)).toEqual([newKid, oldKid]);
    clock.step(1);
    expect((await published(service.url)).map(({ kid }) => kid)).toEqual([newKid]);
  });

  test("are public in the JWKS, encrypted in the database, and deleted when their time is over", async () => {
    const clock = stillClock();
    await using database = await openTestStore(kind);
    const { store } = database;
    const keys = signingKeys({ store, cipher, clock, ids: systemIds });
    const [one] = await keys.listPublicKeys();
    expect(one).toEqual({
      kty: "EC",
      crv: "P-256",
      x: expect.any(String),
      y: expect.any(String),
      kid: expect.any(String),
      alg: "ES256",
      use: "sig",
    });
    const [row] = await store.signingKeys.list();
    expect(Buffer.from(row?.privateKey ?? []).toString("latin1")).not.toMatch(/kty|"d"/);
    clock.step(90 * day);
    await keys.current();
    await keys.retire();
    expect(await store.signingKeys.list()).toHaveLength(2);
    clock.step(2 * day);
    await keys.retire();
    expect(await rowsIn(database.url, "SELECT id FROM signing_key")).toHaveLength(1);
  });

  test("are looked up at most ten times a second for any number of forged ids, and no new key is refused for that", async () => {
    const clock = stillClock();
    const sent: string[] = [];
    await using database = await openTestStore(kind, { onStatement: (sql) => void sent.push(sql) });
    const keys = signingKeys({ store: database.store, cipher, clock, ids: systemIds });
    const lookUpForged = () => Array.from({ length: 100 }, () => keys.publicKey(systemIds.short()));
    sent.length = 0;
    expect(new Set(await Promise.all(lookUpForged()))).toEqual(new Set([null]));
    expect(sent).toHaveLength(1);
    expect(await keys.publicKey("no kid of ours")).toBeNull();
    const other = await signingKeys({ store: database.store, cipher, clock, ids: systemIds }).current();
    sent.length = 0;
    const found = Promise.all([...lookUpForged(), keys.publicKey(other.kid)]);
    await clock.advance(99);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect((await found).at(-1)).not.toBeNull();
    expect(sent).toHaveLength(1);
  });
});

describe("an access token (RFC 9068)", () => {
  test("has the account, scopes and expiry, signed with a published key", async () => {
    await using service = await openService({ idle: true, clock: stillClock() });
    const ann = await service.person();
    const of = await putApp(service, ann, { generation: 3 });
    const { access_token } = await pairOf(service, ann, of, "secret", quarterPast);
    const jwks = createLocalJWKSet((await replyOf(await fetch(`${service.url}/oauth/jwks`))).body);
    const rules = {
      issuer,
      audience: issuer,
      typ: "at+jwt",
      algorithms: ["ES256"],
      currentDate: new Date(quarterPast),
    };
    const { payload } = await jwtVerify(access_token, jwks, rules);
    expect(payload).toEqual({
      ...{
        iss: issuer,
        aud: issuer,
        sub: ann.accountId,
        client_id: of.app.clientId,
        scope: "create_task create_project",
        gen: 3,
      },
      ...{
        iat: quarterPast / 1000,
        exp: quarterPast / 1000 + 86_400,
        jti: expect.any(String),
        fam: expect.any(String),
        team: `team-${ann.spaceId}`,
      },
    });
    expect(access_token.length).toBeLessThan(8192);
  });

  test("with a forged signature is refused as an invalid token, and runs no statement (RFC 9068 4)", async () => {
    const clock = stillClock();
    await using service = await openService({ idle: true, clock });
    await atRest(service);
    const ann = await service.person();
    const of = await putApp(service, ann);
    const { access_token } = await pairOf(service, ann, of, "secret", quarterPast);
    expect((await userMe(service.url, access_token)).status).toBe(200);
    const [head = "", body = "", signature = ""] = access_token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const kid = kidOf(access_token) ?? "";
    const signed = (header: object, of: object = claims, key: Parameters<SignJWT["sign"]>[0] = privateKey) =>
      new SignJWT({ ...of }).setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header }).sign(key);
    const [row] = await service.store.signingKeys.list();
    const ours = {
      ...JSON.parse(
        Buffer.from(cipher.open(row?.privateKey ?? new Uint8Array(), `signing_key:${kid}`)).toString(),
      ),
      alg: "ES256",
    };
    const lookUpForged = {
      "another key": await signed({}),
      "the public key as a secret": await signed(
        { alg: "HS256" },
        claims,
        new TextEncoder().encode(row?.publicKey),
      ),
      "an embedded key": await signed({
        jwk: await exportJWK((await generateKeyPair("ES256", { extractable: true })).publicKey),
      }),
      "no algorithm": new UnsecuredJWT(claims).encode(),
      "another body": `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: "x" })).toString("base64url")}.${signature}`,
      "no signature": `${head}.${body}.`,
      "our key, but another type": await signed({ typ: "JWT" }, claims, ours),
      "our key, but another issuer": await signed({}, { ...claims, iss: "https://evil.example" }, ours),
      "our key, but another audience": await signed({}, { ...claims, aud: "https://other.example" }, ours),
      "our key, but no family": await signed({}, { ...claims, fam: undefined }, ours),
      "no kid": await signed({ kid: undefined }),
      nonsense: "a.b.c",
      "too much": `${access_token}${"a".repeat(9000)}`,
    };
    for (const [what, token] of Object.entries(lookUpForged)) {
      const before = service.statements.length;
      const { status, body: answer } = await userMe(service.url, token);
      expect([what, status, answer.error.message]).toEqual([
        what,
        401,
        "Invalid or missing API key or access token: invalid token",
      ]);
      expect(service.statements.length - before, what).toBe(0);
    }
    expect(
      (await userMe(service.url, await signed({}, claims, ours))).status,
      "the same by our own key",
    ).toBe(200);
  });
});
