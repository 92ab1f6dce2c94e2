import { describe, expect, test } from "vitest";
import type { Store, Tx } from "../../src/core/store.ts";
import { cached } from "../../src/store/cached.ts";
import { sql } from "../../src/store/statements.ts";
import { compared, expectStored } from "../support/checked-cache.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { readCacheRig, reads } from "./read-cache-rig.ts";
import { ann, putPeople, sampleConnector, sampleKey, sampleMember } from "./samples.ts";
import { writes } from "./writes.ts";

const place = { ...ann, projectId: "p", clientId: "c" };

/** Every read that SQLite answers from the cache. */
const cachedReads: Readonly<Record<string, (tx: Tx) => Promise<unknown>>> = {
  key: (tx) => tx.keys.holder("digest"),
  keyById: (tx) => tx.keys.holderById("key"),
  session: (tx) => tx.sessions.holder("digest"),
  sessionById: (tx) => tx.sessions.holderById("s"),
  token: (tx) => tx.families.findHolder("f"),
  worker: (tx) => tx.workers.byDigest("d"),
  connectors: (tx) => tx.connectors.list(ann),
  skills: (tx) => tx.skills.visible(place),
  budgets: (tx) => tx.budgets.listFor({ ...place, taskId: "t" }),
  resources: (tx) => tx.taskResources.find("t"),
};
const readAll = async (tx: Tx) => {
  const answers: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(cachedReads)) answers[name] = await read(tx);
  return answers;
};

/** A store with a member and a key; `selects` counts the reads that reached the database. */
async function openFilled(): Promise<TestStore & { readonly selects: () => number; readonly active: (store?: Tx) => Promise<boolean> }> {
  const sent: string[] = [];
  const opened = await openTestStore("sqlite", { onStatement: (text) => void sent.push(text), onCached: expectStored });
  const { store } = opened;
  await putPeople(store);
  await store.change(async (tx) => {
    await tx.accounts.insertMember(sampleMember({ id: "member-of-ann" }));
    await tx.keys.insert(sampleKey({ id: "key", digest: "digest" }));
  });
  return {
    ...opened,
    selects: () => sent.filter((text) => /^\s*SELECT/.test(text)).length,
    active: async (of = store) => (await of.keys.holder("digest"))?.key.revokedAt === null,
  };
}

const revoke = (tx: Tx) => tx.keys.revoke("key", 2);

describe("the cache of reads on SQLite", () => {
  test("answers equal reads with one statement, and gives each caller separate rows", async () => {
    await using rig = await openFilled();
    const { store, selects } = rig;
    const first = await readAll(store);
    const before = selects();
    const second = await readAll(store);
    expect(selects() - before).toBe(0);
    expect(second).toEqual(first);
    const holder = await store.keys.holder("digest");
    Object.assign(holder?.key ?? {}, { revokedAt: 1, scopes: ["x"] });
    expect(await rig.active()).toBe(true);
    expect(await store.change((tx) => readAll(tx))).toEqual(first);
  });

  test("answers with what is stored after each write of the store, inside and outside of its change", async () => {
    await using rig = await openFilled();
    const before = compared.answers;
    const some = share(writes, 0, 8);
    for (const [, write] of some) {
      await readAll(rig.store);
      // A write that refuses the sample rolls back.
      await rig.store
        .change(async (tx) => {
          await readAll(tx);
          await write(tx);
          await readAll(tx);
        })
        .catch(() => undefined);
      await readAll(rig.store);
      await readAll(rig.store);
    }
    // Each answer of the cache was compared with the database (expectStored).
    expect(compared.answers - before).toBeGreaterThan(some.length * Object.keys(cachedReads).length);
  });

  test("shows a revocation to its own change at once, and to others from its commit", async () => {
    await using rig = await openFilled();
    expect(await rig.active()).toBe(true);
    await rig.store.change(async (tx) => {
      expect(await rig.active(tx)).toBe(true);
      await revoke(tx);
      expect({ own: await rig.active(tx), others: await rig.active() }).toEqual({ own: false, others: true });
    });
    expect(await rig.active()).toBe(false);
  });

  test("forgets what a change read that was rolled back, alone and in a shared commit", async () => {
    await using rig = await openFilled();
    const failing = (store: Store) =>
      store.change(async (tx) => {
        await revoke(tx);
        expect(await rig.active(tx)).toBe(false);
        throw new Error("back");
      });
    await expect(failing(rig.store)).rejects.toThrow("back");
    expect(await rig.active()).toBe(true);
    const inCommit = (tx: Tx) => rig.active(tx);
    const [, after] = await Promise.allSettled([failing(rig.store), rig.store.change(inCommit), failing(rig.store)]);
    expect(after).toEqual({ status: "fulfilled", value: true });
    expect(await rig.active()).toBe(true);
  });

  test("shows the writes of Prisma's client and of another program", async () => {
    await using rig = await openFilled();
    const name = async () => (await rig.store.connectors.list(ann)).map((each) => each.name);
    await rig.store.change((tx) => tx.connectors.insert(sampleConnector({ id: "c", name: "Garden" })));
    expect(await name()).toEqual(["Garden"]);
    await runDirectly(rig, "UPDATE connector SET name = 'Post'");
    expect(await name()).toEqual(["Post"]);
    const role = async () => (await rig.store.keys.holder("digest"))?.member?.role;
    expect(await role()).toBe(sampleMember().role);
    await rig.store.change((tx) => tx.accounts.setRole("member-of-ann", "guest"));
    expect(await role()).toBe("guest");
    expect(await rig.active()).toBe(true);
    await runDirectly(rig, "UPDATE api_key SET revoked_at = 5");
    expect(await rig.active()).toBe(false);
  });

  test("races of reads with a revocation: none that begins after the commit sees the key", async () => {
    await using rig = await openFilled();
    const ids = Array.from({ length: 40 }, (_, i) => `raced-${i}`);
    await rig.store.change(async (tx) => {
      for (const id of ids) await tx.keys.insert(sampleKey({ id, digest: id }));
    });
    const isActive = async (id: string, tx: Tx = rig.store) => (await tx.keys.holder(id))?.key.revokedAt === null;
    for (const id of ids) {
      const readers = Array.from({ length: 8 }, () => isActive(id));
      const inChanges = Array.from({ length: 4 }, () => rig.store.change((tx) => isActive(id, tx)));
      const revoked = rig.store
        .change((tx) => tx.keys.revoke(id, 3))
        .then(() => Promise.all([isActive(id), rig.store.change((tx) => isActive(id, tx))]));
      const [after] = await Promise.all([revoked, ...readers, ...inChanges]);
      expect(after).toEqual([false, false]);
    }
  });

  test("knows a trigger that another process has created", async () => {
    await using rig = await readCacheRig();
    const childrenOf = reads[1]?.("a") ?? expect.fail();
    const change = async (...texts: readonly string[]) => {
      rig.begin();
      for (const text of texts) await rig.write(text);
      rig.writer.exec("COMMIT");
    };
    await change("INSERT INTO parent VALUES ('a', 0, NULL)", "INSERT INTO child VALUES ('c', 'a')", "DELETE FROM line");
    rig.other.exec("CREATE TRIGGER cleaned AFTER DELETE ON line BEGIN DELETE FROM child; END; INSERT INTO line VALUES ('l')");
    for (const _ of [1, 2]) expect(await rig.cachedOn.reader.query(childrenOf)).toEqual([{ id: "c" }]);
    await change("DELETE FROM line");
    expect(await rig.cachedOn.reader.query(childrenOf)).toEqual([]);
  });

  test("refuses a statement that reads a table which it does not declare", async () => {
    await using rig = await readCacheRig();
    const undeclared = cached(["parent" as never], () => sql`SELECT 1 FROM parent WHERE EXISTS (SELECT 1 FROM line)`);
    await expect(rig.cachedOn.reader.query(undeclared())).rejects.toThrow("a cached statement reads line, which it does not declare");
  });

  test("keeps at most 5,000 answers, no answer above 64 kB, and the ones that are used", async () => {
    await using rig = await readCacheRig();
    const { reader } = rig.cachedOn;
    const ask = async (id: string) => {
      const before = rig.sent.length;
      await reader.query(reads[0]?.(id) ?? expect.fail());
      return rig.sent.length - before;
    };
    rig.other.exec("INSERT INTO parent VALUES ('large', 0, zeroblob(66000))");
    expect([await ask("large"), await ask("large")]).toEqual([1, 1]);
    expect(await ask("first")).toBe(1);
    for (let n = 0; n < 5_000; n += 1) {
      await ask(`id-${n}`);
      expect(await ask("first")).toBe(0);
    }
    expect([await ask("id-4999"), await ask("id-0")]).toEqual([0, 1]);
  });

  test("keeps at most 8 MiB", async () => {
    await using rig = await readCacheRig();
    rig.begin();
    for (let n = 0; n < 200; n += 1) await rig.write(`INSERT INTO parent VALUES ('${n}', 0, zeroblob(60000))`);
    rig.writer.exec("COMMIT");
    for (const round of [1, 2])
      for (let n = 0; n < 200; n += 1) await rig.cachedOn.reader.query(reads[0]?.(`${n}`) ?? expect.fail(`${round}`));
    // About 139 of them fit. Reading all in turn always misses.
    expect(rig.sent.filter((text) => text.startsWith("SELECT")).length).toBe(400);
    const before = rig.sent.length;
    for (let n = 199; n > 199 - 130; n -= 1) await rig.cachedOn.reader.query(reads[0]?.(`${n}`) ?? expect.fail());
    expect(rig.sent.length - before).toBe(0);
  });
});
