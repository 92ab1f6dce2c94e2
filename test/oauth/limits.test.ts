import { expect, test } from "vitest";
import { type DatabaseKind, describeOnOne, nodesOf } from "../support/database.ts";
import { type OAuthReply, pairOf, postForm, putApp } from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";

const open = (database: DatabaseKind, factor = "default") =>
  openService({
    ...{ database, nodes: nodesOf(database), idle: true, clock: stillClock() },
    env: { RATE_LIMITS: factor, TRUST_PROXY: "x-forwarded-for" },
  });

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const statusesOf = (replies: readonly OAuthReply[]) => Object.groupBy(replies, ({ status }) => `${status}`);

describeOnOne("limits of the OAuth endpoints (spec/decisions.md 32)", (kind) => {
  test.each([
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/introspect",
  ])("%s: the 61st of a client and address in a minute is 429, with or without proof", async (path) => {
    await using service = await open(kind);
    const ann = await service.person();
    const of = await putApp(service, ann);
    const body = { token: "x", client_id: of.app.clientId, client_secret: of.secret };
    const replies = await times(70, () => postForm(service.url, path, body, from("10.0.0.1")));
    const late = statusesOf(replies)["429"] ?? [];
    expect(late).toHaveLength(10);
    for (const { body, headers } of late) {
      expect(body).toEqual({ error: "temporarily_unavailable", error_description: "rate limit exceeded" });
      expect([headers.get("retry-after"), headers.get("x-request-id")]).toEqual([
        "45",
        expect.stringMatching(/^req_/),
      ]);
    }
    const other = await putApp(service, ann);
    const others = await postForm(
      service.url,
      path,
      { token: "x", client_id: other.app.clientId, client_secret: other.secret },
      from("10.0.0.1"),
    );
    expect(others.status, "another client from there").not.toBe(429);
  });

  test("requests that prove a client are counted for it over all addresses", async () => {
    await using service = await open(kind);
    const of = await putApp(service, await service.person());
    const body = { token: "x", client_id: of.app.clientId, client_secret: of.secret };
    const replies = await times(70, (n) => postForm(service.url, "/oauth/revoke", body, from(`10.0.1.${n}`)));
    expect(statusesOf(replies)["200"]).toHaveLength(60);
    expect(statusesOf(replies)["429"]).toHaveLength(10);
  });

  test("a token of the client proves it as its secret does", async () => {
    await using service = await open(kind);
    const ann = await service.person();
    const of = await putApp(service, ann);
    const { refresh_token: token } = await pairOf(service, ann, of, "pkce", quarterPast);
    const replies = await times(70, (n) =>
      postForm(service.url, "/oauth/revoke", { token, client_id: of.app.clientId }, from(`10.0.2.${n}`)),
    );
    expect(statusesOf(replies)["429"]).toHaveLength(10);
  });

  test("requests without proof never count against other addresses", async () => {
    await using service = await open(kind);
    const of = await putApp(service, await service.person());
    const withoutProof = { token: "x", client_id: of.app.clientId };
    const replies = await times(100, (n) =>
      postForm(service.url, "/oauth/revoke", withoutProof, from(`10.0.3.${n}`)),
    );
    expect(statusesOf(replies)["200"]).toHaveLength(100);
    const withProof = await postForm(
      service.url,
      "/oauth/revoke",
      { ...withoutProof, client_secret: of.secret },
      from("10.0.4.1"),
    );
    expect(withProof.status).toBe(200);
  });

  test("requests without proof get 429 after 300 a minute from one address, for any client ids", async () => {
    await using service = await open(kind);
    const guess = (n: number) =>
      postForm(service.url, "/oauth/token", { grant_type: "x", client_id: `client_${n}` }, from("10.0.5.1"));
    const replies = await times(900, guess);
    expect(statusesOf(replies)["401"]).toHaveLength(300);
    expect(statusesOf(replies)["429"]).toHaveLength(600);
    const malformed = await postForm(service.url, "/oauth/token", {}, from("10.0.5.1"));
    expect(malformed.status, "bodies that cannot be read count too").toBe(429);
    expect((await postForm(service.url, "/oauth/token", {}, from("10.0.5.2"))).status).toBe(400);
  });

  test("RATE_LIMITS applies to these endpoints too", async () => {
    await using service = await open(kind, "0.1");
    const of = await putApp(service, await service.person());
    const body = { token: "x", client_id: of.app.clientId, client_secret: of.secret };
    const replies = await times(10, () => postForm(service.url, "/oauth/revoke", body));
    expect(statusesOf(replies)["200"]).toHaveLength(6);
  });
});
