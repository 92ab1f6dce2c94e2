import { expect, test } from "vitest";
import { describeOnEach, openTestStore, storeOfSuite } from "../../support/database.ts";
import { sampleReplay } from "../samples.ts";

const answer = Uint8Array.from([0, 1, 127, 128, 255]);

describeOnEach("replays", (kind) => {
  const suite = storeOfSuite(kind);

  test("a key is claimed once; the answer is kept to the byte", async () => {
    const { store } = suite;
    const key = sampleReplay();
    await store.change(async (tx) => {
      expect(await tx.replays.claim(key, "hash", 1)).toBe(true);
      await tx.replays.complete(key, answer, "task");
    });
    expect(await store.change((tx) => tx.replays.claim(key, "other", 2))).toBe(false);
    const found = await store.replays.find(key);
    expect(found).toEqual({ hash: "hash", answer, subject: "task" });
    expect(found?.answer).toBeInstanceOf(Uint8Array);
  });

  test("an answer with a secret is kept without its body", async () => {
    const { store } = suite;
    const key = sampleReplay();
    await store.change(async (tx) => {
      await tx.replays.claim(key, "hash", 1);
      await tx.replays.complete(key, null, "key_1");
    });
    expect(await store.replays.find(key)).toEqual({ hash: "hash", answer: null, subject: "key_1" });
  });

  test.each(["accountId", "spaceId", "clientId", "operation", "key"] as const)("another %s is another call", async (member) => {
    const { store } = suite;
    const key = sampleReplay();
    const other = { ...key, [member]: "other" };
    expect(await store.change((tx) => tx.replays.claim(key, "hash", 1))).toBe(true);
    expect(await store.replays.find(other)).toBeNull();
    expect(await store.change((tx) => tx.replays.claim(other, "hash", 1))).toBe(true);
  });

  test("the losers of a race wait for the winner, and find its answer", async () => {
    const { store } = suite;
    const key = sampleReplay();
    const call = (subject: string) =>
      store.change(async (tx) => {
        if (!(await tx.replays.claim(key, "hash", 1))) return (await tx.replays.find(key))?.subject;
        await new Promise((resolve) => setImmediate(resolve));
        await tx.replays.complete(key, answer, subject);
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
      await tx.replays.claim(key, "hash", 1);
      claimed.resolve();
      throw new Error("no");
    });
    await claimed.promise;
    const next = store.change((tx) => tx.replays.claim(key, "hash", 1));
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe(true);
  });

  test("what tells of something is forgotten with it, and what is old in time", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const keys = [sampleReplay(), sampleReplay(), sampleReplay()];
    await store.change(async (tx) => {
      for (const [n, key] of keys.entries()) {
        await tx.replays.claim(key, "hash", n);
        await tx.replays.complete(key, answer, n === 0 ? "gone" : "stays");
      }
    });
    const left = async () => (await Promise.all(keys.map((key) => store.replays.find(key)))).map((found) => found !== null);
    await store.change((tx) => tx.replays.forget("gone"));
    expect(await left()).toEqual([false, true, true]);
    expect(await store.change((tx) => tx.replays.purge(2))).toBe(1);
    expect(await left()).toEqual([false, false, true]);
  });
});
