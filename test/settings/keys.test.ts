import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import { keyDigest } from "../../src/core/keys/api-key.ts";
import { ApiKeyKind } from "../../src/gen/proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { describeOnOne, nodesOf, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2 } from "../support/wires.ts";
import { keysOf, outcomeOf, settingsRig } from "./settings-rig.ts";

const dayMs = 24 * 3_600_000;
const enterprise = keyKinds.filter((kind) => kind !== "general");
const enumOf: Record<KeyKind, ApiKeyKind> = {
  general: ApiKeyKind.GENERAL,
  ediscovery: ApiKeyKind.EDISCOVERY,
  siem: ApiKeyKind.SIEM,
  team_user_mgmt: ApiKeyKind.TEAM_USER_MGMT,
  team_asset_audit: ApiKeyKind.TEAM_ASSET_AUDIT,
  team_asset_mgmt: ApiKeyKind.TEAM_ASSET_MGMT,
};

describeOnOne("API keys of an account", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock, nodes: nodesOf(database) });
  let ann: Person;
  beforeAll(async () => {
    ann = await rig.person();
  });
  const browser = async (who: Person) => (await who.session()).client(ApiKeyService);
  const seconds = (ms: number) => BigInt(Math.floor(ms / 1000));
  const status = async (key: string) =>
    (await callV2(rig.service.url, "user.me", {}, { headers: { "x-service-api-key": key } })).status;

  test("are made with a session, shown once, and stored as a hash", async () => {
    const { apiKey, secret } = await (await browser(ann)).createApiKey({ name: "ci" });
    expect(apiKey).toMatchObject({ name: "ci", kind: ApiKeyKind.GENERAL, createdAt: seconds(clock.now()) });
    expect([apiKey?.expiresAt, apiKey?.lastUsedAt]).toEqual([undefined, undefined]);
    expect(secret).toMatch(/^sk-[A-Za-z0-9_-]{49}$/);
    expect(await status(secret)).toBe(200);
    const [row] = await rowsIn(rig.db.url, `SELECT digest FROM api_key WHERE id = '${apiKey?.id}'`);
    expect(row).toEqual({ digest: keyDigest(secret) });
    const audit = await rig.auditRow("settings.v1.ApiKeyService/CreateApiKey", apiKey?.id);
    expect(JSON.stringify(audit)).not.toContain(secret.slice(3));
    const { data } = await keysOf(ann).listApiKeys({});
    expect(data.map(({ id }) => id)).toContain(apiKey?.id);
    expect(
      JSON.stringify(data, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain(secret.slice(3));
  });

  test("are never made with a key of any kind: a leaked key cannot make others (spec/decisions.md 4)", async () => {
    for (const kind of keyKinds) {
      const { client } = await rig.person({ as: ann, with: ann, kind });
      expect(await outcomeOf(client(ApiKeyService).createApiKey({ name: "next" }))).toBe(
        "PermissionDenied: this operation takes a signed-in session",
      );
    }
  });

  test("can be listed and revoked with general keys too, and with no enterprise kind", async () => {
    for (const kind of enterprise) {
      const { client } = await rig.person({ as: ann, with: ann, kind });
      expect(await outcomeOf(client(ApiKeyService).listApiKeys({}))).toMatch(/^PermissionDenied: /);
      expect(await outcomeOf(client(ApiKeyService).revokeApiKey({ id: ann.keyId }))).toMatch(
        /^PermissionDenied: /,
      );
    }
    expect(await status(ann.key)).toBe(200);
  });

  test("belong to one account in one space: another's key is not found", async () => {
    const colleague = await rig.person({ with: ann, role: "admin" });
    const elsewhere = await rig.person({ as: ann });
    const gone = await rig.person({ as: ann, with: ann });
    await keysOf(ann).revokeApiKey({ id: gone.keyId });
    for (const id of [colleague.keyId, elsewhere.keyId, gone.keyId, "none"]) {
      expect(await outcomeOf(keysOf(ann).revokeApiKey({ id }))).toBe("NotFound: API key not found");
    }
    expect(await Promise.all([colleague.key, elsewhere.key, gone.key].map(status))).toEqual([200, 200, 401]);
    const listed = (await keysOf(ann).listApiKeys({})).data.map(({ id }) => id);
    expect(listed).toContain(ann.keyId);
    for (const { keyId } of [colleague, elsewhere, gone]) expect(listed).not.toContain(keyId);
  });

  test("grant no access after revocation, by the next call, on every node", async () => {
    const { key, keyId } = await rig.person({ as: ann, with: ann });
    const urls = rig.service.nodes.map(({ url }) => url);
    const everywhere = () =>
      Promise.all(
        urls.map(async (url) => (await callV2(url, "user.me", {}, { headers: { "x-api-key": key } })).status),
      );
    expect(await everywhere()).toEqual(urls.map(() => 200));
    await (await browser(ann)).revokeApiKey({ id: keyId });
    expect(await everywhere()).toEqual(urls.map(() => 401));
    expect(await rig.auditRow("settings.v1.ApiKeyService/RevokeApiKey", keyId)).toMatchObject({
      account_id: ann.accountId,
    });
  });

  test.each<[name: string, request: object, why: string]>([
    ["a blank at the end of its name", { name: "ci " }, "name: must have 1 to 100 characters"],
    ["a name with a control character", { name: "a\u0007" }, "name: must have 1 to 100 characters"],
    ["an unknown kind", { name: "ci", kind: 99 }, "kind: "],
    ["an end in the past", { name: "ci", expiresAt: 1_000n }, "expires_at: must be later than now"],
    [
      "an end at this moment",
      { name: "ci", expiresAt: seconds(clock.now()) },
      "expires_at: must be later than now",
    ],
    [
      "an end beyond the last representable time",
      { name: "ci", expiresAt: 9_000_000_000_000_000_000n },
      "expires_at: must be a time",
    ],
  ])("have no %s", async (_what, request, why) => {
    expect(await outcomeOf((await browser(ann)).createApiKey(request))).toContain(`InvalidArgument: ${why}`);
  });

  test("expire at their stated time", async () => {
    const { apiKey, secret } = await (await browser(ann)).createApiKey({
      name: "ci",
      expiresAt: seconds(clock.now()) + 2n,
    });
    expect(apiKey?.expiresAt).toBe(seconds(clock.now()) + 2n);
    await clock.advance(1_999);
    expect(await status(secret)).toBe(200);
    await clock.advance(1);
    expect(await status(secret)).toBe(401);
    expect((await keysOf(ann).listApiKeys({})).data.map(({ id }) => id)).not.toContain(apiKey?.id);
    expect(await outcomeOf(keysOf(ann).revokeApiKey({ id: apiKey?.id ?? "" }))).toBe(
      "NotFound: API key not found",
    );
  });

  describe("of enterprise kinds", () => {
    test.each(enterprise)("are made only by the owner: %s", async (kind) => {
      const keyInput = { name: "siem", kind: enumOf[kind] };
      for (const role of ["super_admin", "admin", "member", "guest"] as const) {
        const other = await browser(await rig.person({ with: ann, role }));
        expect(await outcomeOf(other.createApiKey(keyInput))).toBe(
          "PermissionDenied: only the team's owner can create an enterprise key",
        );
      }
      const alone = await browser(await rig.person({ personal: true }));
      expect(await outcomeOf(alone.createApiKey(keyInput))).toMatch(/^PermissionDenied: /);
      const { apiKey, secret } = await (await browser(ann)).createApiKey(keyInput);
      expect(apiKey?.kind).toBe(enumOf[kind]);
      // Outside its surface it is refused as forbidden: the key is valid.
      expect(await status(secret)).toBe(403);
    });

    test("for the members of a team are valid for at most 365 days, and by default that long (spec/enterprise.md 1)", async () => {
      const owner = await browser(ann);
      const keyInput = { name: "users", kind: ApiKeyKind.TEAM_USER_MGMT };
      const end = clock.now() + 365 * dayMs;
      expect((await owner.createApiKey(keyInput)).apiKey?.expiresAt).toBe(seconds(end));
      expect((await owner.createApiKey({ ...keyInput, expiresAt: seconds(end) })).apiKey?.expiresAt).toBe(
        seconds(end),
      );
      expect(await outcomeOf(owner.createApiKey({ ...keyInput, expiresAt: seconds(end) + 1n }))).toBe(
        "InvalidArgument: expires_at: must be within 365 days",
      );
      expect(
        (await owner.createApiKey({ name: "siem", kind: ApiKeyKind.SIEM, expiresAt: seconds(end) + 1n }))
          .apiKey,
      ).toBeDefined();
    });

    test("do not count towards the 50", async () => {
      const bo = await rig.person();
      const owner = await browser(bo);
      for (let i = 1; i < 50; i += 1) await owner.createApiKey({ name: `k${i}` });
      expect(await outcomeOf(owner.createApiKey({ name: "k51" }))).toBe(
        "ResourceExhausted: an account has at most 50 active keys",
      );
      expect(await outcomeOf(owner.createApiKey({ name: "siem", kind: ApiKeyKind.SIEM }))).toBe("let in");
    });
  });

  test("are at most 50 general ones over all spaces, also when 51 are requested at once", async () => {
    const carl = await rig.person();
    const home = await rig.person({ as: carl });
    await keysOf(home).revokeApiKey({ id: home.keyId });
    await keysOf(carl).revokeApiKey({ id: carl.keyId });
    const places = await Promise.all([carl, home].map(browser));
    const calls = Array.from({ length: 51 }, (_, i) =>
      outcomeOf((places[i % 2] as (typeof places)[0]).createApiKey({ name: `k${i}` })),
    );
    const outcomes = (await Promise.all(calls)).toSorted();
    expect(outcomes).toEqual([
      "ResourceExhausted: an account has at most 50 active keys",
      ...Array<string>(50).fill("let in"),
    ]);
  });

  test("are not returned twice: a repeat with the same Idempotency-Key is refused with the id made", async () => {
    const owner = await browser(ann);
    const headers = { "idempotency-key": "once" };
    const { apiKey } = await owner.createApiKey({ name: "ci" }, { headers });
    await expect(owner.createApiKey({ name: "ci" }, { headers })).rejects.toMatchObject({
      code: Code.AlreadyExists,
      rawMessage: `Idempotency-Key: already used, it made ${apiKey?.id}`,
    });
  });
});
