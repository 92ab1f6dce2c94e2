import { expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { codeDigest } from "../../src/core/oauth/code.ts";
import { openStore } from "../../src/store/open.ts";
import { databaseUrl, describeOnOne, rowsIn } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import {
  codeFor,
  exchangeCode,
  modes,
  pairOf,
  postForm,
  putApp,
  refreshProof,
  refreshWith,
  userMe,
} from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { storedText } from "../support/stored-text.ts";
import { runJobs } from "../support/timed-jobs.ts";

const day = 24 * 3_600_000;

describeOnOne("stored OAuth data", (kind) => {
  test("has no code, token or secret, in any table or log line", async () => {
    await using database = await databaseUrl(kind);
    const clock = stillClock();
    const store = await openStore({ databaseUrl: database.url, clock, random: systemRandom });
    const secrets: string[] = [];
    const service = await openService({ over: { store, url: database.url }, idle: true, clock });
    const ann = await service.person();
    const of = await putApp(service, ann);
    secrets.push(of.secret);
    for (const mode of modes) {
      const code = await codeFor(service, ann, of, mode, quarterPast);
      const { body: first } = await exchangeCode(service, of, mode, code);
      await exchangeCode(service, of, mode, code);
      const { body: next } = await refreshWith(service, of, mode, first.refresh_token);
      await refreshWith(service, of, mode, first.refresh_token);
      await userMe(service.url, next.access_token);
      await postForm(service.url, "/oauth/introspect", {
        token: next.access_token,
        client_id: of.app.clientId,
        client_secret: of.secret,
      });
      await postForm(service.url, "/oauth/revoke", { token: next.refresh_token, ...refreshProof(mode, of) });
      secrets.push(code, first.access_token, first.refresh_token, next.access_token, next.refresh_token);
    }
    const stored = await storedText(database.url);
    expect(stored.includes(of.app.clientId), "the scan reads the rows").toBe(true);
    // In lower case: the index of a search has its words so.
    const everything = `${stored}${JSON.stringify(service.logged)}`.toLowerCase();
    // The last part of a token alone would be enough to use it.
    for (const text of secrets.flatMap((secret) => [secret, secret.slice(-22)]))
      expect(everything.includes(text.toLowerCase())).toBe(false);
    await service[Symbol.asyncDispose]();
    await store.close();
  });

  test("has an audit entry for each race and each theft (spec/decisions.md 31)", async () => {
    await using database = await databaseUrl(kind);
    const clock = stillClock();
    const store = await openStore({ databaseUrl: database.url, clock, random: systemRandom });
    const service = await openService({ over: { store, url: database.url }, idle: true, clock });
    const ann = await service.person();
    const of = await putApp(service, ann);
    const code = await codeFor(service, ann, of, "pkce", quarterPast);
    const { body: first } = await exchangeCode(service, of, "pkce", code);
    await exchangeCode(service, of, "pkce", code);
    const { body: next } = await refreshWith(service, of, "pkce", first.refresh_token);
    await refreshWith(service, of, "pkce", first.refresh_token);
    await postForm(service.url, "/oauth/revoke", { token: next.access_token, client_id: of.app.clientId });
    clock.step(60_000);
    await refreshWith(service, of, "pkce", first.refresh_token);
    await exchangeCode(service, of, "pkce", code);
    const rows = await rowsIn(
      database.url,
      "SELECT * FROM audit_event WHERE operation LIKE 'oauth/%' ORDER BY at",
    );
    const [, family] = first.refresh_token.split("_");
    const events = rows.map(({ after }) => JSON.parse(String(after)).event);
    expect(events.toSorted()).toEqual(
      [
        "token_issued",
        "code_raced",
        "refresh_raced",
        "access_token_revoked",
        "refresh_replayed",
        "code_replayed",
      ].toSorted(),
    );
    expect(events.slice(-2).toSorted()).toEqual(["code_replayed", "refresh_replayed"]);
    for (const row of rows)
      expect(row).toMatchObject({
        subject: family,
        credential: `app:${of.app.clientId}`,
        account_id: ann.accountId,
        space_id: ann.spaceId,
        address: "127.0.0.1",
      });
    await service[Symbol.asyncDispose]();
    await store.close();
  });

  test("is deleted a day after it can no longer be used, and not before", async () => {
    const clock = stillClock();
    await using service = await openService({ database: kind, idle: true, clock });
    const ann = await service.person();
    const of = await putApp(service, ann);
    const code = await codeFor(service, ann, of, "pkce", quarterPast);
    const [active, revoked] = [
      await pairOf(service, ann, of, "pkce", quarterPast),
      await pairOf(service, ann, of, "pkce", quarterPast),
    ];
    await postForm(service.url, "/oauth/revoke", {
      token: revoked.refresh_token,
      client_id: of.app.clientId,
    });
    const familyOf = ({ refresh_token }: { readonly refresh_token: string }) =>
      service.store.families.findState(refresh_token.split("_")[1] ?? "");
    const runAll = () => runJobs(service.store, clock);
    clock.step(day - 10);
    await runAll();
    expect(await service.store.codes.find(codeDigest(code))).not.toBeNull();
    expect(await familyOf(revoked)).not.toBeNull();
    clock.step(600_020);
    await runAll();
    expect(await service.store.codes.find(codeDigest(code))).toBeNull();
    expect(await familyOf(revoked)).toBeNull();
    clock.step(29 * day);
    await runAll();
    expect(await familyOf(active)).not.toBeNull();
    clock.step(day);
    await runAll();
    expect(await familyOf(active)).toBeNull();
  });

  test("is never part of an error: an unexpected error is server_error (spec/oauth.md 5.6)", async () => {
    await using database = await databaseUrl(kind);
    const clock = stillClock();
    const store = await openStore({ databaseUrl: database.url, clock, random: systemRandom });
    const broken = storeWithFaults(store, "clients", () => ({
      find: () => Promise.reject(new Error("row 7 of oauth_secret")),
    }));
    const service = await openService({ over: { store: broken, url: database.url }, idle: true, clock });
    const reply = await postForm(service.url, "/oauth/revoke", { token: "x", client_id: "client_x" });
    expect([reply.status, reply.body]).toEqual([
      500,
      { error: "server_error", error_description: "internal error" },
    ]);
    expect(
      service.logged.some(({ fields }) => fields["requestId"] === reply.headers.get("x-request-id")),
    ).toBe(true);
    await service[Symbol.asyncDispose]();
    await store.close();
  });
});
