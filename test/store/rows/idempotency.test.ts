import { expect, test } from "vitest";
import { describeOnEach, openTestStore, storeOfSuite } from "../../support/database.ts";
import { sampleReplay } from "../samples.ts";

const answer = Uint8Array.from([0, 1, 127, 128, 255]);

describeOnEach("idempotency records", (kind) => {
  const suite = storeOfSuite(kind);

  test("a key is claimed once; the answer is kept unchanged", async () => {
    const { store } = suite;
    const key = sampleReplay();
    await store.change(async (tx) => {
      expect(await tx.idempotency.claim(key, "hash", 1)).toBe(true);
      await tx.idempotency.complete(key, answer, "task");
    });
    expect(await store.change((tx) => tx.idempotency.claim(key, "other", 2))).toBe(false);
    const found = await store.idempotency.find(key);
    expect(found).toEqual({ hash: "hash", answer, subject: "task" });
    expect(found?.answer).toBeInstanceOf(Uint8Array);
  });

  test("an answer with a secret is kept without its body", async () => {
    const { store } = suite;
    const key = sampleReplay();
    await store.change(async (tx) => {
      await tx.idempotency.claim(key, "hash", 1);
      await tx.idempotency.complete(key, null, "key_1");
    });
    expect(await store.idempotency.find(key)).toEqual({ hash: "hash", answer: null, subject: "key_1" });
  });

  test.each([
    "accountId",
    "spaceId",
    "clientId",
    "operation",
    "key",
  ] as const)("another %s is another call", async (member) => {
    const { store } = suite;
    const key = sampleReplay();
    const other = { ...key, [member]: "other" };
    expect(await store.change((tx) => tx.idempotency.claim(key, "hash", 1))).toBe(true);
    expect(await store.idempotency.find(other)).toBeNull();
    expect(await store.change((tx) => tx.idempotency.claim(other, "hash", 1))).toBe(true);
  });

  test("the losers of a race wait for the winner, and find its answer", async () => {
    const { store } = suite;
    const key = sampleReplay();
    const call = (subject: string) =>
      store.change(async (tx) => {
        if (!(await tx.idempotency.claim(key, "hash", 1))) return (await tx.idempotency.find(key))?.subject;
        await new Promise((resolve) => setImmediate(resolve));
        await tx.idempotency.complete(key, answer, subject);
        return subject;
      });
    const subjects = await Promise.all(["a", "b", "c", "d", "e"].map(call));
    expect(new Set(subjects).size).toBe(1);
    expect(subjects).not.toContain(undefined);
  });

  test("a claim whose change failed is free for the next", async () => {
    const { store } = suite;
    const key = sampleReplay();
    const claimed = Promise.withResolvers<void>();
    const failing = store.change(async (tx) => {
      await tx.idempotency.claim(key, "hash", 1);
      claimed.resolve();
      throw new Error("no");
    });
    await claimed.promise;
    const next = store.change((tx) => tx.idempotency.claim(key, "hash", 1));
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe(true);
  });

  test("a record about a deleted row is deleted with it, and old records expire", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const keys = [sampleReplay(), sampleReplay(), sampleReplay()];
    await store.change(async (tx) => {
      for (const [n, key] of keys.entries()) {
        await tx.idempotency.claim(key, "hash", n);
        await tx.idempotency.complete(key, answer, n === 0 ? "gone" : "stays");
      }
    });
    const remaining = async () =>
      (await Promise.all(keys.map((key) => store.idempotency.find(key)))).map((found) => found !== null);
    await store.change((tx) => tx.idempotency.deleteOf("gone"));
    expect(await remaining()).toEqual([false, true, true]);
    expect(await store.change((tx) => tx.idempotency.purge(2))).toBe(1);
    expect(await remaining()).toEqual([false, false, true]);
  });
});
