import { expect, test } from "vitest";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { createKey, isKeyText, keyDigest } from "../../../src/core/keys/api-key.ts";
import type { Store } from "../../../src/core/store.ts";
import { initializeInstallation } from "../../../src/core/use-cases/initialize-installation.ts";
import { describeOnOne, openTestStore, type TestStore } from "../../support/database.ts";

const now = 1_790_000_000_000;
const making = { now, ids: systemIds, random: systemRandom };

/** A store with an owner who has one key. */
async function withOwner(
  kind: "sqlite" | "postgresql",
): Promise<TestStore & { owner: { accountId: string; spaceId: string } }> {
  const database = await openTestStore(kind);
  const text = await database.store.change((tx) => initializeInstallation(tx, making, "ann@example.com"));
  const holder = await database.store.keys.holder(keyDigest(text ?? ""));
  if (!holder) throw new Error("no first key");
  return { ...database, owner: { accountId: holder.key.accountId, spaceId: holder.key.spaceId } };
}

const makeGeneralKey = (store: Store, owner: { accountId: string; spaceId: string }, name = "laptop") =>
  store.change((tx) => createKey(tx, making, { ...owner, kind: "general", name }));

describeOnOne("a new key", (kind) => {
  test("has 256 random bits with a checksum, and only its digest is stored", async () => {
    await using database = await withOwner(kind);
    const { key, text } = await makeGeneralKey(database.store, database.owner);
    expect(text).toSatisfy(isKeyText);
    expect(key.digest).toBe(keyDigest(text));
    expect(JSON.stringify(await database.store.keys.holder(key.digest))).not.toContain(text);
  });

  test("is noted for the audit log without its text", async () => {
    await using database = await withOwner(kind);
    const { noted, key, text } = await database.store.change(async (tx) => {
      const made = await createKey(tx, making, { ...database.owner, kind: "siem", name: "log reader" });
      return { noted: tx.audit.notes(), ...made };
    });
    expect(noted).toEqual({ subject: key.id, after: { name: "log reader", kind: "siem" } });
    expect(JSON.stringify(noted)).not.toContain(text);
  });

  test.each([
    "",
    " ",
    " x",
    "x ",
    "a\nb",
    "a\0b",
    "\ud800",
    "x".repeat(101),
  ])("is refused for the name %j", async (name) => {
    await using database = await withOwner(kind);
    await expect(makeGeneralKey(database.store, database.owner, name)).rejects.toMatchObject({
      reason: "invalid_argument",
    });
  });

  test.each(["x".repeat(100), "Ännchens Gerät 📱"])("is made for the name %j", async (name) => {
    await using database = await withOwner(kind);
    expect((await makeGeneralKey(database.store, database.owner, name)).key.name).toBe(name);
  });
});

describeOnOne("50 active general keys per account", (kind) => {
  test("are the maximum, also when 60 are requested at once", async () => {
    await using database = await withOwner(kind);
    const requests = Array.from({ length: 60 }, (_, i) =>
      makeGeneralKey(database.store, database.owner, `key ${i}`),
    );
    const outcomes = await Promise.allSettled(requests);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(49);
    const refusals = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason.reason] : [],
    );
    expect(refusals).toEqual(Array.from({ length: 11 }, () => "resource_exhausted"));
    expect(await database.store.keys.countActive(database.owner.accountId, now)).toBe(50);
  });

  test("exclude revoked and expired keys and other kinds", async () => {
    await using database = await withOwner(kind);
    const { store, owner } = database;
    const { key } = await makeGeneralKey(store, owner);
    await store.change((tx) =>
      createKey(tx, making, { ...owner, kind: "general", name: "short", expiresAt: now + 1 }),
    );
    for (let i = 0; i < 47; i += 1) await makeGeneralKey(store, owner, `key ${i}`);
    await expect(makeGeneralKey(store, owner)).rejects.toMatchObject({ reason: "resource_exhausted" });
    await store.change((tx) => createKey(tx, making, { ...owner, kind: "siem", name: "other kind" }));
    await store.change((tx) => tx.keys.revoke(key.id, now));
    await makeGeneralKey(store, owner);
    await expect(makeGeneralKey(store, owner)).rejects.toMatchObject({ reason: "resource_exhausted" });
    await store.change((tx) =>
      createKey(tx, { ...making, now: now + 1 }, { ...owner, kind: "general", name: "after the short one" }),
    );
  });
});
