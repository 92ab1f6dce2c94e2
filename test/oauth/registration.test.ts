import { afterAll, beforeAll, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { managedClient, register } from "../../src/core/oauth/registration.ts";
import { createSignedInVisitor, createVisitor, type Visitor } from "../console/consent-rig.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { issuer, type Members, type OAuthReply, postForm, replyOf } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";
import { atMcp } from "./mcp-address.ts";
import { openRedirects, refusalOf, tokensFor, unverifiedRequest } from "./unverified-rig.ts";

const redirectUri = "http://127.0.0.1:4711/cb";
const metadata = {
  client_name: "Kiosk",
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: "client_secret_basic",
};

const send = async (
  url: string,
  path: string,
  method: string,
  body?: unknown,
  token?: string,
): Promise<OAuthReply> =>
  replyOf(
    await fetch(`${url}/oauth/register${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );

describeOnOne("dynamic registration (RFC 7591, RFC 7592, spec/oauth.md 16.2)", (database) => {
  let service: Service;
  let ann: Person;
  let browser: Visitor;
  beforeAll(async () => {
    service = await openService({ idle: true, database, env: { OAUTH_REGISTRATION: "on" } });
    ann = await service.person();
    browser = await createSignedInVisitor(service.url, ann);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });
  const registerOne = async (members: object = {}) =>
    (await send(service.url, "", "POST", { ...metadata, ...members })).body;
  const use = (clientId: string, members: Members = {}) =>
    tokensFor(service.url, browser, { clientId, redirectUri, spaceId: ann.spaceId }, members);

  test("a client registers, is let act by a user, and its tokens open the MCP address only", async () => {
    const made = await send(service.url, "", "POST", metadata);
    expect([made.status, made.body]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^dynamic_/),
        client_id_issued_at: expect.any(Number),
        registration_client_uri: `${issuer}/oauth/register/${made.body.client_id}`,
        registration_access_token: expect.stringMatching(/^registration_[\w-]{43}$/),
        client_name: "Kiosk (127.0.0.1:4711)",
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "none",
        ...{
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          scope: "create_task manage_all_tasks",
        },
      },
    ]);
    const page = await browser.get(unverifiedRequest(made.body.client_id, redirectUri));
    expect(page.text).toContain("It registered itself and chose its name.");
    const { access_token: token } = await use(made.body.client_id);
    const bearer = { authorization: `Bearer ${token}` };
    expect([
      (await atMcp(service, bearer)).status,
      (await ann.v2("user.me", {}, { headers: bearer })).status,
    ]).not.toContain(500);
    expect((await atMcp(service, bearer)).status).toBe(200);
    const metadataOf = await replyOf(await fetch(`${service.url}/.well-known/oauth-authorization-server`));
    expect(metadataOf.body.registration_endpoint).toBe(`${issuer}/oauth/register`);
  });

  test.each<readonly [object, string]>([
    [{ redirect_uris: [] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://elsewhere.example/cb"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["http://localhost.example/cb"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    [{ redirect_uris: ["https://app.example/*"] }, "invalid_redirect_uri"],
    [{ redirect_uris: "https://app.example/cb" }, "invalid_redirect_uri"],
    [{ client_name: "a\u202eb" }, "invalid_client_metadata"],
    [{ client_name: 1 }, "invalid_client_metadata"],
    [{ grant_types: ["implicit"] }, "invalid_client_metadata"],
    [{ software_statement: "x" }, "invalid_client_metadata"],
  ])("refuses %j", async (members, error) => {
    const { status, body } = await send(service.url, "", "POST", { ...metadata, ...members });
    expect([status, body.error]).toEqual([400, error]);
  });

  test("the management token reads, changes and deletes its client only, and deletion ends its tokens", async () => {
    const [one, other] = [await registerOne(), await registerOne()];
    const token = one.registration_access_token;
    expect((await send(service.url, `/${one.client_id}`, "GET", undefined, token)).body).toEqual(one);
    for (const [id, wrong] of [
      [other.client_id, token],
      [one.client_id, undefined],
      [one.client_id, "x"],
      ["dynamic_x", token],
      ["atp-cli", ""],
    ])
      for (const method of ["GET", "DELETE"]) {
        const refused = await send(service.url, `/${id}`, method, undefined, wrong);
        expect([refused.status, refused.body.error]).toEqual([401, "invalid_token"]);
      }
    const changed = await send(
      service.url,
      `/${one.client_id}`,
      "PUT",
      { ...metadata, client_id: one.client_id, client_name: "Stall" },
      token,
    );
    expect(changed.body).toMatchObject({
      client_name: "Stall (127.0.0.1:4711)",
      registration_access_token: token,
    });
    const mistaken = await send(
      service.url,
      `/${one.client_id}`,
      "PUT",
      { ...metadata, client_id: other.client_id },
      token,
    );
    expect(mistaken.body.error).toBe("invalid_client_metadata");
    const { access_token: access } = await use(one.client_id);
    expect((await send(service.url, `/${one.client_id}`, "DELETE", undefined, token)).status).toBe(204);
    expect((await atMcp(service, { authorization: `Bearer ${access}` })).status).toBe(401);
    expect((await send(service.url, `/${one.client_id}`, "GET", undefined, token)).status).toBe(401);
    expect((await browser.get(unverifiedRequest(one.client_id, redirectUri))).status).toBe(400);
  });

  test("an error in the request of a registered client is a page and never a redirect (RFC 9700 4.11.2)", async () => {
    const { client_id: id } = await registerOne();
    for (const visitor of [browser, createVisitor(service.url, "")])
      for (const members of openRedirects)
        expect(refusalOf(await visitor.get(unverifiedRequest(id, redirectUri, members)))).toContain(
          `<code>${redirectUri}</code>`,
        );
  });

  test("a changed redirect ends the old one, and a code goes to the address of the page only", async () => {
    const { client_id: id, registration_access_token: token } = await registerOne();
    const page = await browser.get(unverifiedRequest(id, redirectUri));
    const body = { ...metadata, client_id: id, redirect_uris: ["https://elsewhere.example/cb"] };
    expect((await send(service.url, `/${id}`, "PUT", body, token)).status).toBe(200);
    const sent = await browser.send(page, "/openapi/oauth", [
      ["space", ann.spaceId],
      ["decision", "approve"],
    ]);
    expect([sent.status, sent.location]).toEqual([400, ""]);
  });

  test("the management token is stored as a digest only", async () => {
    const { client_id: id, registration_access_token: token } = await registerOne();
    const digest = await service.store.registrations.digest(id);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(digest).not.toContain(token);
  });
});

test("switched off, its clients cannot sign in, and their tokens end (OAUTH_REGISTRATION)", async () => {
  await using store = await openTestStore("sqlite");
  await using on = await openService({ idle: true, over: store, env: { OAUTH_REGISTRATION: "on" } });
  const person = await on.person();
  const browser = await createSignedInVisitor(on.url, person);
  const { client_id: clientId } = (await send(on.url, "", "POST", metadata)).body;
  const { access_token: token } = await tokensFor(on.url, browser, {
    clientId,
    redirectUri,
    spaceId: person.spaceId,
  });
  await using off = await openService({ idle: true, over: store });
  expect((await atMcp(off, { authorization: `Bearer ${token}` })).status).toBe(401);
  expect((await atMcp(on, { authorization: `Bearer ${token}` })).status).toBe(200);
});

test("without OAUTH_REGISTRATION there is no such address", async () => {
  await using service = await openService({ idle: true });
  expect((await fetch(`${service.url}/oauth/register`, { method: "POST", body: "{}" })).status).toBe(404);
  expect((await fetch(`${service.url}/oauth/register/dynamic_x`)).status).toBe(404);
  const refused = await postForm(service.url, "/oauth/token", {
    grant_type: "refresh_token",
    client_id: "dynamic_x",
    refresh_token: "x",
  });
  expect(refused.body.error).toBe("invalid_client");
});

test("an address can register 10 clients an hour", async () => {
  const clock = stillClock();
  await using service = await openService({
    idle: true,
    clock,
    env: { OAUTH_REGISTRATION: "on", RATE_LIMITS: "1" },
  });
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++) statuses.push((await send(service.url, "", "POST", metadata)).status);
  expect(statuses).toEqual([...Array(10).fill(201), 429]);
  clock.step(3_600_000);
  expect((await send(service.url, "", "POST", metadata)).status).toBe(201);
});

describeOnOne("unused registrations", (database) => {
  let db: TestStore;
  beforeAll(async () => {
    db = await openTestStore(database);
  });
  afterAll(() => db[Symbol.asyncDispose]());
  const dayMs = 24 * 3_600_000;
  const registerAt = (now: number) =>
    db.store.change((tx) => register(tx, { now, ids: systemIds, random: systemRandom }, metadata));

  const present = async (clientId: string) => (await db.store.apps.find(clientId)) !== null;

  test("are at most 1,000: the next one replaces the oldest, and none stays longer than a day", async () => {
    const now = 1_790_000_000_000;
    const { app } = await registerAt(now);
    await db.store.change(async (tx) => {
      for (let at = 1; at < 1_000; at++)
        await tx.registrations.insert({ ...app, clientId: `dynamic_${at}`, createdAt: now + at }, "d");
      // A client that a user has let act does not count.
      await tx.registrations.markUsed("dynamic_1");
    });
    await registerAt(now + dayMs);
    expect([await present(app.clientId), await present("dynamic_2")]).toEqual([true, true]);
    await Promise.all([registerAt(now + dayMs), registerAt(now + dayMs)]);
    expect(await Promise.all([app.clientId, "dynamic_1", "dynamic_2", "dynamic_3"].map(present))).toEqual([
      false,
      true,
      false,
      true,
    ]);
    const late = await registerAt(now + dayMs + 5);
    expect(await Promise.all(["dynamic_1", "dynamic_4", "dynamic_5"].map(present))).toEqual([
      true,
      false,
      true,
    ]);

    const clock = stillClock(now + 2 * dayMs + 5);
    await runJobs(db.store, clock);
    expect(await present(late.app.clientId)).toBe(true);
    clock.step(1);
    await runJobs(db.store, clock);
    expect(await present(late.app.clientId)).toBe(false);
    await expect(db.store.change((tx) => managedClient(tx, late.app.clientId, late.token))).rejects.toThrow(
      "not valid",
    );
  });
});
