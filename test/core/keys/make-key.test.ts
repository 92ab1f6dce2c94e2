import { expect, test } from "vitest";
import { firstStart } from "../../../src/core/accounts/first-start.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { isKeyText, keyDigest } from "../../../src/core/keys/api-key.ts";
import { makeKey } from "../../../src/core/keys/make-key.ts";
import type { Store } from "../../../src/core/store.ts";
import { describeOnEach, openTestStore, type TestStore } from "../../support/database.ts";

const now = 1_790_000_000_000;
const making = { now, ids: systemIds, random: systemRandom };

/** A store with an owner, who has one key. */
async function withOwner(kind: "sqlite" | "postgresql"): Promise<TestStore & { owner: { accountId: string; spaceId: string } }> {
  const test = await openTestStore(kind);
  const text = await test.store.change((tx) => firstStart(tx, making, "ann@example.com"));
  const holder = await test.store.keys.holder(keyDigest(text ?? ""));
  if (!holder) throw new Error("no first key");
  return { ...test, owner: { accountId: holder.key.accountId, spaceId: holder.key.spaceId } };
}

const general = (store: Store, owner: { accountId: string; spaceId: string }, name = "laptop") =>
  store.change((tx) => makeKey(tx, making, { ...owner, kind: "general", name }));

describeOnEach("a new key", (kind) => {
  test("is 256 random bits with a checksum, kept only as its digest", async () => {
    await using test = await withOwner(kind);
    const { key, text } = await general(test.store, test.owner);
    expect(text).toSatisfy(isKeyText);
    expect(key.digest).toBe(keyDigest(text));
    expect(JSON.stringify(await test.store.keys.holder(key.digest))).not.toContain(text);
  });

  test("is noted for the audit log without its text", async () => {
    await using test = await withOwner(kind);
    const { noted, key, text } = await test.store.change(async (tx) => {
      const made = await makeKey(tx, making, { ...test.owner, kind: "siem", name: "log reader" });
      return { noted: tx.audit.noted(), ...made };
    });
    expect(noted).toEqual({ subject: key.id, after: { name: "log reader", kind: "siem" } });
    expect(JSON.stringify(noted)).not.toContain(text);
  });

  test.each(["", " ", " x", "x ", "a\nb", "a\0b", "\ud800", "x".repeat(101)])("is refused for the name %j", async (name) => {
    await using test = await withOwner(kind);
    await expect(general(test.store, test.owner, name)).rejects.toMatchObject({ reason: "invalid" });
  });

  test.each(["x".repeat(100), "Ännchens Gerät 📱"])("is made for the name %j", async (name) => {
    await using test = await withOwner(kind);
    expect((await general(test.store, test.owner, name)).key.name).toBe(name);
  });
});

describeOnEach("50 living general keys per account", (kind) => {
  test("are the most there can be, also when 60 are asked for at once", async () => {
    await using test = await withOwner(kind);
    const asked = Array.from({ length: 60 }, (_, i) => general(test.store, test.owner, `key ${i}`));
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(49);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.reason] : []));
    expect(refusals).toEqual(Array.from({ length: 11 }, () => "exhausted"));
    expect(await test.store.keys.countLiving(test.owner.accountId, now)).toBe(50);
  });

  test("leave room again when one is revoked or has expired, and other kinds do not count", async () => {
    await using test = await withOwner(kind);
    const { store, owner } = test;
    const { key } = await general(store, owner);
    await store.change((tx) => makeKey(tx, making, { ...owner, kind: "general", name: "short", expiresAt: now + 1 }));
    for (let i = 0; i < 47; i += 1) await general(store, owner, `key ${i}`);
    await expect(general(store, owner)).rejects.toMatchObject({ reason: "exhausted" });
    await store.change((tx) => makeKey(tx, making, { ...owner, kind: "siem", name: "other kind" }));
    await store.change((tx) => tx.keys.revoke(key.id, now));
    await general(store, owner);
    await expect(general(store, owner)).rejects.toMatchObject({ reason: "exhausted" });
    await store.change((tx) => makeKey(tx, { ...making, now: now + 1 }, { ...owner, kind: "general", name: "after the short one" }));
  });
});
