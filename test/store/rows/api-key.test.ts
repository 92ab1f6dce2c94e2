import { expect, test } from "vitest";
import type { Member } from "../../../src/core/accounts/account.ts";
import type { ApiKey } from "../../../src/core/keys/api-key.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { annAtHome, putPeople, sampleKey, sampleMember } from "../samples.ts";

describeOnEach("keys", (kind) => {
  test.each<{
    why: string;
    key?: Partial<ApiKey>;
    members?: readonly Partial<Member>[];
    member: { role: string; status: string } | null;
  }>([
    { why: "in a personal space there is no member", key: annAtHome, member: null },
    {
      why: "in a team's space the member's role and status",
      members: [{}],
      member: { role: "owner", status: "active" },
    },
    {
      why: "a past member's status",
      members: [{ status: "removed" }],
      member: { role: "owner", status: "removed" },
    },
    {
      why: "an active membership before an earlier tombstone",
      members: [
        { status: "removed", createdAt: 5 },
        { role: "guest", status: "inactive", createdAt: 1 },
      ],
      member: { role: "guest", status: "inactive" },
    },
  ])("the holder of a key: $why", async ({ key, members = [], member }) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const written = sampleKey({ expiresAt: 5000, revokedAt: 4000, kind: "siem", ...key });
    await store.change(async (tx) => {
      await tx.keys.insert(written);
      for (const each of members) await tx.accounts.insertMember(sampleMember(each));
    });
    expect(await store.keys.holder(written.digest)).toEqual({
      key: { ...written, usedAt: null },
      locale: "en",
      member,
    });
  });

  test.each<{ why: string; key: Partial<ApiKey> }>([
    { why: "of an unknown account", key: { accountId: "erased" } },
    { why: "of an unknown space", key: { spaceId: "gone" } },
    { why: "in a team that its holder never was in", key: {} },
  ])("a key $why grants no access", async ({ key }) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const written = sampleKey(key);
    await store.change((tx) => tx.keys.insert(written));
    expect(await store.keys.holder(written.digest)).toBeNull();
    expect(await store.keys.holder("unknown")).toBeNull();
  });

  test("active keys are general, neither revoked nor expired, in any space", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const keys = [
      {},
      annAtHome,
      { expiresAt: 2001 },
      { expiresAt: 2000 },
      { revokedAt: 1500 },
      { kind: "siem" as const },
      { accountId: "bo" },
    ];
    await store.change(async (tx) => {
      for (const key of keys) await tx.keys.insert(sampleKey(key));
    });
    expect(await store.keys.countActive("ann", 2000)).toBe(3);
  });

  test("a key is revoked once", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const key = sampleKey(annAtHome);
    await store.change((tx) => tx.keys.insert(key));
    const revoked = await Promise.all(
      [5000, 5000, 5000].map((now) => store.change((tx) => tx.keys.revoke(key.id, now))),
    );
    expect(revoked.filter(Boolean)).toHaveLength(1);
    expect(await store.change((tx) => tx.keys.revoke("unknown", 1))).toBe(false);
    expect(await store.keys.holder(key.digest)).toMatchObject({ key: { revokedAt: 5000 } });
  });
});
