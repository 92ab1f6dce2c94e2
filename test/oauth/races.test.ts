import { afterAll, beforeAll, expect, test } from "vitest";
import { type DatabaseKind, describeOnEach, halfFor, nodesOf } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import {
  codeFor,
  exchangeCode,
  modes,
  type OAuthReply,
  pairOf,
  postForm,
  putApp,
  refreshProof,
  refreshWith,
  userMe,
} from "../support/oauth.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";

/** One node on SQLite, three on PostgreSQL; no time passes. */
const open = (database: DatabaseKind): Promise<Service> =>
  openService({ database, nodes: nodesOf(database), idle: true, clock: stillClock() });

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const successes = (replies: readonly OAuthReply[]) => replies.filter(({ status }) => status === 200);
const refusals = (replies: readonly OAuthReply[]) =>
  new Set(
    replies.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body.error}`),
  );

/** Repeats a request that the busy database could not take in time, as clients do. A 503 changes nothing. */
async function untilTaken(send: () => Promise<OAuthReply>): Promise<OAuthReply> {
  for (;;) {
    const reply = await send();
    if (reply.status !== 503) return reply;
  }
}

/** How many times one token is used at once. */
const many = sample(1_000, 100);
const rounds = sample(20, 6);

describeOnEach("simultaneous requests", (kind) => {
  let service: Service;
  beforeAll(async () => {
    service = await open(kind);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each(halfFor(kind, modes))("one code used a hundred times gives one valid pair (%s)", async (mode) => {
    const ann = await service.person();
    const of = await putApp(service, ann);
    const code = await codeFor(service, ann, of, mode, quarterPast);
    const replies = await times(100, () => exchangeCode(service, of, mode, code));
    expect(successes(replies)).toHaveLength(1);
    expect(refusals(replies)).toEqual(new Set(["400 invalid_grant"]));
    const { access_token, refresh_token } = successes(replies)[0]?.body ?? {};
    expect((await userMe(service.url, access_token)).status).toBe(200);
    expect((await refreshWith(service, of, mode, refresh_token)).status).toBe(200);
  });

  test.each(
    halfFor(kind, modes),
  )(`one refresh token ${many} times gives one pair, and who keeps it works on (spec/decisions.md 31, %s)`, async (mode) => {
    const ann = await service.person();
    const of = await putApp(service, ann);
    const first = await pairOf(service, ann, of, mode, quarterPast);
    const replies = await times(many, () =>
      untilTaken(() => refreshWith(service, of, mode, first.refresh_token)),
    );
    expect(successes(replies)).toHaveLength(1);
    expect(refusals(replies)).toEqual(new Set(["400 invalid_grant"]));
    let { access_token, refresh_token } = successes(replies)[0]?.body ?? {};
    for (let round = 0; round < 3; round++) {
      for (const node of service.nodes) expect((await userMe(node.url, access_token)).status).toBe(200);
      const next = await refreshWith(service, of, mode, refresh_token);
      expect(next.status).toBe(200);
      ({ access_token, refresh_token } = next.body);
    }
    expect((await userMe(service.url, first.access_token)).status).toBe(401);
  });

  test("revoking and refreshing at the same time leave no valid token, in either order", async () => {
    const ann = await service.person();
    const of = await putApp(service, ann);
    for (let round = 0; round < rounds; round++) {
      const first = await pairOf(service, ann, of, "secret", quarterPast);
      const token = first.refresh_token;
      const refreshing = refreshWith(service, of, "secret", token);
      const revoking = postForm(service.url, "/oauth/revoke", { token, ...refreshProof("secret", of) });
      const [refreshed, revoked] = await Promise.all([refreshing, revoking]);
      expect(revoked.status).toBe(200);
      const alive =
        refreshed.status === 200 ? [first.access_token, refreshed.body.access_token] : [first.access_token];
      for (const access of alive) expect((await userMe(service.url, access)).status).toBe(401);
    }
  });

  test("a code that is exchanged while its grant is revoked gives no valid token", async () => {
    const ann = await service.person();
    const of = await putApp(service, ann);
    for (let round = 0; round < rounds; round++) {
      const code = await codeFor(service, ann, of, "pkce", quarterPast);
      const revoking = service.store.change((tx) =>
        tx.grants.revokeAll(ann.accountId, ann.spaceId, quarterPast),
      );
      const [reply] = await Promise.all([exchangeCode(service, of, "pkce", code), revoking]);
      if (reply.status === 200) expect((await userMe(service.url, reply.body.access_token)).status).toBe(401);
      else expect(reply.body.error).toBe("invalid_grant");
    }
  });

  test("a token that one node revoked is refused by the next call on every node", async () => {
    const ann = await service.person();
    const of = await putApp(service, ann);
    const { access_token: token } = await pairOf(service, ann, of, "pkce", quarterPast);
    for (const node of service.nodes) expect((await userMe(node.url, token)).status).toBe(200);
    const revoke = await postForm(service.nodes[0]?.url ?? "", "/oauth/revoke", {
      token,
      client_id: of.app.clientId,
    });
    expect(revoke.status).toBe(200);
    for (const node of service.nodes) expect((await userMe(node.url, token)).status).toBe(401);
  });

  test("nodes that need a signing key create one, and accept each other's tokens", async () => {
    await using service = await open(kind);
    const ann = await service.person();
    const of = await putApp(service, ann);
    const pairs = await times(6, () => pairOf(service, ann, of, "pkce", quarterPast));
    expect(await service.store.signingKeys.list()).toHaveLength(1);
    for (const { access_token } of pairs)
      for (const node of service.nodes) expect((await userMe(node.url, access_token)).status).toBe(200);
  });
});
