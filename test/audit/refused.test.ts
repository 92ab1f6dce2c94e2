import { afterAll, beforeAll, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { callV2, rpcWires } from "../support/wires.ts";
import { type Credentials, credentialsOf } from "../wires/credentials.ts";

type Row = Readonly<Record<string, unknown>>;

describeOnOne("audit rows of refused calls", (kind) => {
  let [database, service, credentials] = [] as unknown as [TestStore, Service, Credentials];
  const meUser = "user.v2.UserService/GetCurrentUser";

  /** Another process, whose clock stays within one minute. */
  const openMinuteProcess = (env: Readonly<Record<string, string>> = {}) =>
    openService({ over: database, idle: true, env, clock: stillClock(Date.now()) });

  beforeAll(async () => {
    database = await openTestStore(kind);
    service = await openService({ over: database, idle: true });
    credentials = await credentialsOf(service, database);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  test.each([
    { why: "a revoked key", present: () => credentials.revokedKey(), kind: "key" },
    { why: "an expired key", present: () => credentials.expiredKey(), kind: "key" },
    { why: "a removed member's key", present: () => credentials.removedMembersKey(), kind: "key" },
    { why: "a revoked token", present: () => credentials.revokedToken(), kind: "token" },
    { why: "a refreshed token", present: () => credentials.refreshedToken(), kind: "token" },
    { why: "an expired token", present: () => credentials.expiredToken(), kind: "token" },
    { why: "a token of a revoked grant", present: () => credentials.tokenOfRevokedGrant(), kind: "token" },
    { why: "a token of a deleted app", present: () => credentials.tokenOfDeletedApp(), kind: "token" },
    {
      why: "a token of an earlier generation",
      present: () => credentials.tokenOfEarlierGeneration(),
      kind: "token",
    },
  ])("refusals of $why are in the log of its space after a drain", async ({ present, kind: credential }) => {
    const headers = await present();
    await using other = await openMinuteProcess();
    for (let n = 0; n < 3; n += 1)
      expect((await callV2(other.url, "user.me", {}, { headers })).status).toBe(401);
    const before = await refusalRows();
    await other.drain();
    const rows = (await refusalRows()).slice(before.length);
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

  test("refusals of no credential, a mistyped key, a forged token and an unknown key are only in the process log", async () => {
    await using other = await openMinuteProcess();
    const unknown = newKeyText(systemRandom);
    const before = (await refusalRows()).length;
    for (const headers of [
      {},
      { "x-api-key": "sk-no" },
      { "x-api-key": unknown },
      { authorization: "Bearer x.y.z" },
    ])
      expect((await callV2(other.url, "user.me", {}, { headers })).status).toBe(401);
    await other.drain();
    expect((await refusalRows()).length).toBe(before);
    expect(other.logged.filter(({ text }) => text.includes("refused"))).toEqual([
      expect.objectContaining({ level: "info", fields: { count: 4 } }),
    ]);
    expect(JSON.stringify(other.logged)).not.toContain(unknown);
  });

  test("a wrong kind, a missing scope and a call over the limit are logged on every wire, each with its reason", async () => {
    await using other = await openMinuteProcess({ RATE_LIMITS: "0.01" });
    const member = await other.person({ with: credentials.owner, role: "member" });
    const token = await credentials.token(["create_project"]);
    const siem = await credentials.key("siem");
    const before = (await refusalRows()).length;
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
    const rows = (await refusalRows()).slice(before);
    expect(
      rows
        .map(({ reason, operation, count }) => `${reason} ${String(operation).split("/")[1]} ${count}`)
        .toSorted(),
    ).toEqual(
      [
        "forbidden GetCurrentUser 1",
        "forbidden ListUsers 1",
        "insufficient_scope ListTasks 1",
        `limited GetCurrentUser ${rpcWires.length}`,
      ].toSorted(),
    );
  });

  test("a refusal by a handler is logged too", async () => {
    await using other = await openMinuteProcess();
    const admin: Person = await other.person({ with: credentials.owner, role: "admin" });
    const keys = (await admin.session()).client(ApiKeyService);
    await expect(keys.createApiKey({ name: "x", kind: 3 })).rejects.toThrow(
      "only the team's owner can create an enterprise key",
    );
    const before = (await refusalRows()).length;
    await other.drain();
    expect((await refusalRows()).slice(before)).toEqual([
      expect.objectContaining({
        reason: "forbidden",
        operation: "settings.v1.ApiKeyService/CreateApiKey",
        account_id: admin.accountId,
      }),
    ]);
  });

  const refusalRows = (): Promise<readonly Row[]> =>
    runDirectly(database, "SELECT * FROM audit_event WHERE outcome = 'refused' ORDER BY at, id").then(
      (rows) => rows.map((row) => ({ ...row, count: Number(row["count"]) })),
    );
});

describeOnOne("audit log on a timer", (kind) => {
  test("a change is sealed within a second, and refusals are written when their minute is over", async () => {
    await using database = await openTestStore(kind);
    const clock = stillClock(quarterPast);
    await using service = await openService({ over: database, idle: true, clock });
    const ann = await service.person();
    await ann.v2("project.create", { name: "Garden" });
    const rows = () =>
      runDirectly(
        database,
        `SELECT seq, outcome, count FROM audit_event WHERE space_id = '${ann.spaceId}' ORDER BY at`,
      );
    const logLines = async () =>
      (await rows()).map(
        ({ seq, outcome, count }) => `${outcome} ${Number(count)} ${seq === null ? "open" : Number(seq)}`,
      );
    /** Advances the clock again, for a node that was waiting for the database when its timer fired. */
    async function advancedLines(): Promise<string[]> {
      await clock.advance(250);
      return logLines();
    }
    expect(await logLines()).toEqual(["done 1 open"]);
    await clock.advance(1_000);
    await expect.poll(logLines).toEqual(["done 1 1"]);
    const member = await service.person({ with: ann, role: "member" });
    // Every node counts some of the refusals.
    for (let n = 0; n < 6; n += 1) expect((await member.v2("team.user.list")).status).toBe(403);
    await clock.advance(43_000);
    expect(await logLines(), "the minute is not over").toEqual(["done 1 1"]);
    await clock.advance(3_000);
    await expect.poll(advancedLines).toEqual(["done 1 1", "refused 6 open"]);
    await clock.advance(12_000);
    await expect.poll(advancedLines).toEqual(["done 1 1", "refused 6 2"]);
  });
});
