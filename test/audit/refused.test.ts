import { afterAll, beforeAll, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnEach, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { callV2, rpcWires } from "../support/wires.ts";
import { type Credentials, credentialsOf } from "../wires/credentials.ts";

type Row = Readonly<Record<string, unknown>>;

describeOnEach("what is refused", (kind) => {
  let [database, service, credentials] = [] as unknown as [TestStore, Service, Credentials];
  const meUser = "user.v2.UserService/GetCurrentUser";

  /** Another process, for which it is one minute all the time. */
  const besides = (env: Readonly<Record<string, string>> = {}) =>
    openService({ over: database, idle: true, env, clock: stillClock(Date.now()) });

  beforeAll(async () => {
    database = await openTestStore(kind);
    service = await openService({ over: database, nodes: nodesOf(kind), idle: true });
    credentials = await credentialsOf(service, database);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test.each([
    { why: "a revoked key", shown: () => credentials.revokedKey(), kind: "key" },
    { why: "an expired key", shown: () => credentials.expiredKey(), kind: "key" },
    { why: "a removed member's key", shown: () => credentials.removedMembersKey(), kind: "key" },
    { why: "a revoked token", shown: () => credentials.revokedToken(), kind: "token" },
    { why: "a token that was refreshed", shown: () => credentials.refreshedToken(), kind: "token" },
    { why: "an expired token", shown: () => credentials.expiredToken(), kind: "token" },
    { why: "a token of a revoked grant", shown: () => credentials.tokenOfRevokedGrant(), kind: "token" },
    { why: "a token of a deleted app", shown: () => credentials.tokenOfDeletedApp(), kind: "token" },
    { why: "a token of an earlier generation", shown: () => credentials.tokenOfEarlierGeneration(), kind: "token" },
  ])("$why is known: its refusals stand in its space's log once it drains", async ({ shown, kind: credential }) => {
    const headers = await shown();
    await using other = await besides();
    for (let n = 0; n < 3; n += 1) expect((await callV2(other.url, "user.me", {}, { headers })).status).toBe(401);
    const before = await refused();
    await other.drain();
    const rows = (await refused()).slice(before.length);
    expect(rows).toEqual([
      expect.objectContaining({
        operation: meUser,
        reason: "unauthenticated",
        count: 3,
        space_id: credentials.owner.spaceId,
        subject: null,
      }),
    ]);
    expect(String(rows[0]?.["credential"])).toMatch(new RegExp(`^${credential}:`));
    expect(rows[0]?.["address"]).toMatch(/127\.0\.0\.1/);
  });

  test("no credential, a mistyped key, a forged token and an unknown key are for the process log alone", async () => {
    await using other = await besides();
    const unknown = newKeyText(systemRandom);
    const before = (await refused()).length;
    for (const headers of [{}, { "x-api-key": "sk-no" }, { "x-api-key": unknown }, { authorization: "Bearer x.y.z" }])
      expect((await callV2(other.url, "user.me", {}, { headers })).status).toBe(401);
    await other.drain();
    expect((await refused()).length).toBe(before);
    expect(other.logged.filter(({ text }) => text.includes("refused"))).toEqual([
      expect.objectContaining({ level: "info", fields: { count: 4 } }),
    ]);
    expect(JSON.stringify(other.logged)).not.toContain(unknown);
  });

  test("a wrong kind, a missing scope and a call too many are logged, each under its reason, over every wire", async () => {
    await using other = await besides({ RATE_LIMITS: "0.01" });
    const member = await other.person({ with: credentials.owner, role: "member" });
    const token = await credentials.token(["create_project"]);
    const siem = await credentials.key("siem");
    const before = (await refused()).length;
    expect((await callV2(other.url, "user.me", {}, { headers: siem })).status).toBe(403);
    expect((await callV2(other.url, "task.list", {}, { headers: token })).status).toBe(403);
    expect((await member.v2("team.user.list")).status).toBe(403);
    expect((await member.v2("user.me")).status).toBe(200);
    for (const wire of rpcWires)
      await member
        .client(UserService, wire)
        .getCurrentUser({})
        .catch(() => undefined);
    await other.drain();
    const rows = (await refused()).slice(before);
    expect(rows.map(({ reason, operation, count }) => `${reason} ${String(operation).split("/")[1]} ${count}`).toSorted()).toEqual(
      [
        "forbidden GetCurrentUser 1",
        "forbidden ListUsers 1",
        "insufficient_scope ListTasks 1",
        `limited GetCurrentUser ${rpcWires.length}`,
      ].toSorted(),
    );
  });

  test("what a handler refuses counts as well", async () => {
    await using other = await besides();
    const admin: Person = await other.person({ with: credentials.owner, role: "admin" });
    const keys = (await admin.session()).client(ApiKeyService);
    await expect(keys.createApiKey({ name: "x", kind: 3 })).rejects.toThrow("made by the team's owner");
    const before = (await refused()).length;
    await other.drain();
    expect((await refused()).slice(before)).toEqual([
      expect.objectContaining({ reason: "forbidden", operation: "settings.v1.ApiKeyService/CreateApiKey", account_id: admin.accountId }),
    ]);
  });

  const refused = (): Promise<readonly Row[]> =>
    directly(database, "SELECT * FROM audit_event WHERE outcome = 'refused' ORDER BY at, id").then((rows) =>
      rows.map((row) => ({ ...row, count: Number(row["count"]) })),
    );
});

describeOnEach("by the clock", (kind) => {
  test("a change is sealed within a second, and refusals are written when their minute is over", async () => {
    await using database = await openTestStore(kind);
    const clock = stillClock(quarterPast);
    await using service = await openService({ over: database, nodes: nodesOf(kind), idle: true, clock });
    const ann = await service.person();
    await ann.v2("project.create", { name: "Garden" });
    const rows = () => directly(database, `SELECT seq, outcome, count FROM audit_event WHERE space_id = '${ann.spaceId}' ORDER BY at`);
    const told = async () =>
      (await rows()).map(({ seq, outcome, count }) => `${outcome} ${Number(count)} ${seq === null ? "open" : Number(seq)}`);
    /** A node that waited for the database when its time came gets it again. */
    async function moving(): Promise<string[]> {
      await clock.advance(250);
      return told();
    }
    expect(await told()).toEqual(["done 1 open"]);
    await clock.advance(1_000);
    await expect.poll(told).toEqual(["done 1 1"]);
    const member = await service.person({ with: ann, role: "member" });
    // Every node counts some.
    for (let n = 0; n < 6; n += 1) expect((await member.v2("team.user.list")).status).toBe(403);
    await clock.advance(43_000);
    expect(await told(), "the minute is not over").toEqual(["done 1 1"]);
    await clock.advance(3_000);
    await expect.poll(moving).toEqual(["done 1 1", "refused 6 open"]);
    await clock.advance(12_000);
    await expect.poll(moving).toEqual(["done 1 1", "refused 6 2"]);
  });
});
