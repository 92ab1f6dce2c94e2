import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import {
  answerIn,
  authorizePath,
  createSignedInVisitor,
  createVisitor,
  type Visitor,
} from "../console/consent-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { lacks } from "../support/needs.ts";
import { issuer, postForm, userMe } from "../support/oauth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { atMcp } from "./mcp-address.ts";
import {
  approveFor,
  type DocumentServer,
  exchangeFor,
  mcp,
  openDocument,
  openRedirects,
  refusalOf,
  tokensFor,
  trustedServers,
  unverifiedRequest,
} from "./unverified-rig.ts";

describe.skipIf(lacks("openssl"))("an unverified client (spec/oauth.md 16)", () => {
  const open = trustedServers();
  describeOnOne("over", (database) => {
    let service: Service;
    let ann: Person;
    let browser: Visitor;
    let client: DocumentServer;
    const redirectUri = "http://127.0.0.1:4711/cb";
    const request = (members = {}) => unverifiedRequest(client.clientId, redirectUri, members);
    const tokens = (spaceId = ann.spaceId, members = {}) =>
      tokensFor(service.url, browser, { clientId: client.clientId, redirectUri, spaceId }, members);
    const statusWith = async (token: string) =>
      (await atMcp(service, { authorization: `Bearer ${token}` })).status;

    beforeAll(async () => {
      client = await openDocument(open, () => ({
        redirect_uris: ["http://127.0.0.1/cb", "http://localhost/cb"],
      }));
      service = await openService({ idle: true, database, env: { CLIENT_ALLOW: "loopback" } });
      ann = await service.person();
      browser = await createSignedInVisitor(service.url, ann);
    });
    afterAll(async () => {
      await service[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    });

    test("the page names its host, says that it is not verified, and offers the spaces", async () => {
      const { text } = await browser.get(request());
      for (const part of [
        "Not verified.",
        `Kiosk (127.0.0.1:${client.port})`,
        "127.0.0.1:4711, this computer",
        `value="${ann.spaceId}"`,
      ])
        expect(text).toContain(part);
      expect(text).not.toContain("logo");
    });

    test("its tokens open the MCP address only, with the least scope, whether or not it names the address (spec/decisions.md 127)", async () => {
      for (const members of [{}, { resource: mcp }]) {
        const {
          access_token: token,
          refresh_token: refreshToken,
          scope,
        } = await tokens(ann.spaceId, members);
        expect([decodeJwt(token).aud, scope]).toEqual([mcp, "create_task"]);
        expect([await statusWith(token), (await userMe(service.url, token)).status]).toEqual([200, 401]);
        const next = await postForm(service.url, "/oauth/token", {
          ...{ grant_type: "refresh_token", client_id: client.clientId, refresh_token: refreshToken },
        });
        expect([next.status, decodeJwt(next.body.access_token).aud]).toEqual([200, mcp]);
      }
    });

    test("gets no scope other than those of MCP, no resource other than the MCP address, and nothing without PKCE", async () => {
      const errorOf = async (members: object) => refusalOf(await browser.get(request(members)));
      for (const scope of [
        "create_project",
        "use_my_browsers",
        "use_connectors",
        "create_task approve:tasks",
      ])
        expect(await errorOf({ scope })).toContain("scope:");
      for (const resource of [issuer, `${issuer}/v2`])
        expect(await errorOf({ resource })).toContain("resource is not one");
      expect(await errorOf({ code_challenge: undefined, code_challenge_method: undefined })).toContain(
        "code_challenge is missing",
      );
      expect((await tokens(ann.spaceId, { scope: "manage_all_tasks create_task" })).scope).toBe(
        "create_task manage_all_tasks",
      );
    });

    test("an error is a page with the address as text and never a redirect, also before sign-in (RFC 9700 4.11.2)", async () => {
      for (const visitor of [browser, createVisitor(service.url, "")])
        for (const members of openRedirects) {
          const text = refusalOf(await visitor.get(request(members)));
          expect(text).toContain(`<code>${redirectUri}</code>`);
          expect(text).not.toContain(`href="${redirectUri}`);
        }
    });

    test("may use any port of the loopback, localhost included, and no other address", async () => {
      for (const uri of ["http://localhost:9/cb", "http://127.0.0.1/cb"])
        expect((await browser.get(unverifiedRequest(client.clientId, uri))).status).toBe(200);
      for (const uri of [
        "http://[::1]:9/cb",
        "https://localhost/cb",
        "http://localhost/other",
        "http://localhost.example/cb",
        "https://elsewhere.example/cb",
      ])
        expect((await browser.get(unverifiedRequest(client.clientId, uri))).status).toBe(400);
    });

    test("a document that cannot be used is a page without a redirect", async () => {
      const page = await browser.get(unverifiedRequest(`${client.url}/other`, redirectUri));
      expect([page.status, page.location]).toEqual([400, ""]);
      expect(page.text).toContain("client_id");
    });

    test("its code is for it only, is used once, and its grant can be revoked", async () => {
      const { code } = answerIn(await approveFor(browser, request(), ann.spaceId), redirectUri);
      expect(
        (await exchangeFor(service.url, { clientId: `${client.url}/other`, redirectUri, code })).body.error,
      ).toBe("invalid_client");
      const { body } = await exchangeFor(service.url, { clientId: client.clientId, redirectUri, code });
      const apps = ann.client(OAuth2AppService);
      const { data } = await apps.listOAuth2Grants({});
      expect(data).toMatchObject([{ clientId: client.clientId, verified: false }]);
      await apps.revokeOAuth2Grant({ clientId: client.clientId });
      expect(await statusWith(body.access_token)).toBe(401);
    });

    test("the owner of a space forbids it: its tokens end until it is allowed again, and the page does not offer the space", async () => {
      const owner = await service.person();
      const member = await service.person({ with: owner, role: "admin" });
      const theirs = await createSignedInVisitor(service.url, member);
      const of = { clientId: client.clientId, redirectUri, spaceId: owner.spaceId };
      const { access_token: token, refresh_token: refreshToken } = await tokensFor(service.url, theirs, of);
      const page = await theirs.get(request());
      await expect(
        member.client(OAuth2AppService).setOAuth2ClientPolicy({ allowUnverifiedClients: false }),
      ).rejects.toThrow("permission_denied");
      await owner.client(OAuth2AppService).setOAuth2ClientPolicy({ allowUnverifiedClients: false });
      expect(await member.client(OAuth2AppService).getOAuth2ClientPolicy({})).toMatchObject({
        allowUnverifiedClients: false,
      });
      expect(await statusWith(token)).toBe(401);
      const refresh = {
        grant_type: "refresh_token",
        client_id: client.clientId,
        refresh_token: refreshToken,
      };
      expect((await postForm(service.url, "/oauth/token", refresh)).body.error).toBe("invalid_grant");
      // A page that was loaded before does not help.
      const sent = await theirs.send(page, authorizePath, [
        ["space", owner.spaceId],
        ["decision", "approve"],
      ]);
      expect([sent.status, sent.text.includes("does not allow such apps")]).toEqual([403, true]);
      await owner.client(OAuth2AppService).setOAuth2ClientPolicy({ allowUnverifiedClients: true });
      expect(await statusWith(token)).toBe(200);
    });

    test("two users who let it act at the same time both succeed", async () => {
      const people = await Promise.all([service.person(), service.person()]);
      const fresh = await openDocument(open, (origin) => ({ redirect_uris: [`${origin}/cb`] }));
      await using _ = fresh;
      const of = { clientId: fresh.clientId, redirectUri: `${fresh.url}/cb` };
      const got = await Promise.all(
        people.map(async (person) =>
          tokensFor(service.url, await createSignedInVisitor(service.url, person), {
            ...of,
            spaceId: person.spaceId,
          }),
        ),
      );
      expect(await Promise.all(got.map(({ access_token: token }) => statusWith(token)))).toEqual([200, 200]);
    });
  });

  test("10 documents a minute are fetched for one address", async () => {
    await using service = await openService({
      idle: true,
      clock: stillClock(),
      env: { CLIENT_ALLOW: "loopback", RATE_LIMITS: "1" },
    });
    await using server = await open((_request, response) => response.writeHead(500).end());
    const statuses: number[] = [];
    for (let at = 0; at < 12; at++)
      statuses.push(
        (await fetch(service.url + unverifiedRequest(`${server.url}/${at}`, "http://localhost/cb"))).status,
      );
    expect([statuses.filter((status) => status === 400).length, statuses.at(-1)]).toEqual([10, 429]);
    expect(server.requests).toHaveLength(10);
  });
});
