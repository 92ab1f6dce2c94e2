import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { cipherFrom, type KeyRing } from "../../src/core/cipher.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createSeal, openArchive } from "../../src/core/exports/seal.ts";
import { fileLinks } from "../../src/core/files/links.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { refreshTokens } from "../../src/core/oauth/family.ts";
import {
  finishRotation,
  followKey,
  type SealedValue,
  switchKey,
} from "../../src/core/processes/key-rotation.ts";
import { countByKey, reencrypt } from "../../src/core/processes/re-encrypt.ts";
import type { Store } from "../../src/core/store.ts";
import { schema } from "../../src/gen/prisma/tables.ts";
import { showKeys } from "../../src/modules/key-ring.ts";
import { sealedColumns } from "../../src/store/rows/sealed-columns.ts";
import { fill } from "../erasure/filled.ts";

import { describeOnEach, openTestStore, rowsIn, type TestDatabase } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";

const [oldKey, newKey, otherKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const ringOf = (key: Uint8Array, previous: Uint8Array | null = null): KeyRing =>
  cipherFrom(key, systemRandom, previous);
const onProgress = () => undefined;
const noBytes = {
  put: async (_id: string, bytes: Readable) => void bytes.destroy(),
} as unknown as Parameters<typeof fill>[1]; // Only `put` is called.

/** A row in every table, whose encrypted values are sealed by this ring. */
async function fillSealed(
  database: TestDatabase & { readonly store: Store },
  ring: KeyRing,
): Promise<readonly Buffer[]> {
  const { store } = database;
  await fill(database, noBytes, "ann", { accountId: "ann", spaceId: "north", teamId: "t" });
  await store.change(async (tx) => {
    const publicKey = { publicKey: "p", createdAt: 1 };
    await tx.signingKeys.insert({ id: "k", ...publicKey, privateKey: Uint8Array.of(1) });
    await tx.models.put({
      ...{ name: "m", entry: {}, secrets: Uint8Array.of(1), keyEnd: null },
      ...{ price: null, profiles: [], updatedAt: 1 },
    });
    await tx.webhookKeys.insert({
      ...{ id: "k", algorithm: "rsa", number: 1, ...publicKey, privateKey: Uint8Array.of(1) },
      ...{ signsFrom: 1, retiresAt: null },
    });
  });
  const values: Buffer[] = [];
  await store.change(async (tx) => {
    for (const column of tx.sealed.listColumns()) {
      const [value] = await tx.sealed.page(column, null, 10);
      if (value === undefined) throw new Error(`no value of ${column}`);
      const sealed = ring.seal(Buffer.from(`secret of ${column}`), value.context);
      expect(await tx.sealed.replace(column, value, sealed)).toBe(true);
      values.push(Buffer.from(sealed));
    }
  });
  return values;
}

async function valuesOf(store: Store): Promise<readonly (SealedValue & { readonly column: string })[]> {
  const all = await Promise.all(
    store.sealed
      .listColumns()
      .map(async (column) =>
        (await store.sealed.page(column, null, 10)).map((value) => ({ ...value, column })),
      ),
  );
  return all.flat();
}

/** All bytes of a database as one hexadecimal text. */
async function bytesIn({ url }: TestDatabase): Promise<string> {
  const texts: string[] = [];
  for (const { name } of Object.values(schema))
    for (const row of await rowsIn(url, `SELECT * FROM "${name}"`))
      for (const value of Object.values(row))
        if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("hex"));
  return texts.join(" ");
}

test("every column of bytes is declared as encrypted", () => {
  const bytes = Object.entries(schema).flatMap(([table, { columns }]) =>
    Object.entries(columns).flatMap(([member, [, kind]]) =>
      (kind as string) === "bytes" ? [`${table}.${member}`] : [],
    ),
  );
  expect(sealedColumns.map(({ table, member }) => `${table}.${member}`).toSorted()).toEqual(bytes.toSorted());
});

describeOnEach("a rotation of the encryption key", (kind) => {
  test("encrypts every stored value again: the new key alone opens all, and no ciphertext of the old key is left", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => followKey(tx, ringOf(oldKey)));
    const ring = ringOf(newKey, oldKey);
    await followKey(store, ring);
    const before = await fillSealed(database, ring);
    await store.change((tx) => switchKey(tx, ring, 1));
    await expect(store.change((tx) => finishRotation(tx, ring, 100_000, before.length))).rejects.toThrow(
      `${before.length} values are encrypted by the old key`,
    );
    let calls = 0;
    const killed = () => {
      calls += 1;
      if (calls === 4) throw new Error("killed");
    };
    await expect(reencrypt({ store, ring, onProgress: killed })).rejects.toThrow("killed");
    expect(await reencrypt({ store, ring, onProgress })).toBe(before.length - 4);
    expect(await reencrypt({ store, ring, onProgress })).toBe(0);
    const only = ringOf(newKey);
    for (const { column, sealed, context } of await valuesOf(store))
      expect(Buffer.from(only.open(sealed, context)).toString()).toBe(`secret of ${column}`);
    const bytes = await bytesIn(database);
    expect(before.filter((value) => bytes.includes(value.toString("hex")))).toEqual([]);
    for (const counts of Object.values(await countByKey({ store, ring })))
      expect(counts).toEqual({ newest: 1, previous: 0, neither: 0 });
    await store.change((tx) => finishRotation(tx, ring, 100_000, 0));
    expect(await store.change((tx) => followKey(tx, only))).toBeNull();
    expect(await store.change((tx) => followKey(tx, ringOf(oldKey)))).toBe("other_key");
  });

  test("keeps a value that another process writes between its read and its change", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => followKey(tx, ringOf(oldKey)));
    const ring = ringOf(newKey, oldKey);
    await followKey(store, ring);
    await fillSealed(database, ring);
    await store.change((tx) => switchKey(tx, ring, 1));
    const writers = [ringOf(oldKey), ringOf(newKey)];
    const page: Store["sealed"]["page"] = async (column, after, max) => {
      const read = await store.sealed.page(column, after, max);
      const [value] = read;
      const writer = column === "webhook.secret" ? writers.shift() : undefined;
      if (value && writer)
        await store.change((tx) =>
          tx.sealed.replace(
            column,
            value,
            writer.seal(Buffer.from(`written ${writers.length}`), value.context),
          ),
        );
      return read;
    };
    await reencrypt({ store: { ...store, sealed: { ...store.sealed, page } }, ring, onProgress });
    const [secret] = await store.sealed.page("webhook.secret", null, 1);
    expect(secret && Buffer.from(ringOf(newKey).open(secret.sealed, secret.context)).toString()).toBe(
      "written 0",
    );
  });

  test("waits for processes that do not know the new key, is followed by the others within 5 s, and ends once all seal with it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const clock = stillClock();
    const log = () => undefined;
    const show = (ring: KeyRing) =>
      showKeys({
        store,
        ring,
        clock,
        log,
        process: { id: systemIds.short(), role: "api", version: "1.0.0" },
      });
    const stopOld = await show(ringOf(oldKey));
    const [serving, ring] = [ringOf(newKey, oldKey), ringOf(newKey, oldKey)];
    const stopServing = await show(serving);
    await followKey(store, ring);
    expect([serving.check, ring.check]).toEqual([ringOf(oldKey).check, ringOf(oldKey).check]);
    const begin = () => store.change((tx) => switchKey(tx, ring, clock.now()));
    await expect(begin()).rejects.toThrow("1 running processes do not know the new key");
    await stopOld();
    await begin();
    await begin();
    const finish = (left = 0) => store.change((tx) => finishRotation(tx, ring, clock.now(), left));
    await expect(finish(3)).rejects.toThrow("3 values are encrypted by the old key");
    await expect(finish()).rejects.toThrow("may still write with the old key");
    // Every start from now on needs both keys.
    await expect(show(ringOf(oldKey))).rejects.toThrow("ENCRYPTION_KEY is not the key");
    await expect(show(ringOf(newKey))).rejects.toThrow("set ENCRYPTION_KEY_PREVIOUS");
    await expect(show(ringOf(otherKey, oldKey))).rejects.toThrow("ENCRYPTION_KEY is not the key");
    await expect
      .poll(async () => {
        await clock.advance(5_000);
        return serving.check;
      })
      .toBe(ringOf(newKey).check);
    await clock.advance(60_000);
    await expect
      .poll(() =>
        finish().then(
          () => "finished",
          () => "waits",
        ),
      )
      .toBe("finished");
    await expect(finish()).rejects.toThrow("no rotation of the key is in progress");
    await expect(begin()).rejects.toThrow("ENCRYPTION_KEY_PREVIOUS can be removed");
    await stopServing();
    await (await show(ringOf(newKey)))();
    expect(await store.processKeys.list(0)).toEqual([]);
  });

  test("is refused without a previous key", async () => {
    await using database = await openTestStore(kind);
    const ring = ringOf(newKey);
    await database.store.change((tx) => followKey(tx, ring));
    await expect(database.store.change((tx) => switchKey(tx, ring, systemClock.now()))).rejects.toThrow(
      "ENCRYPTION_KEY_PREVIOUS to the old one",
    );
  });
});

test("links, refresh tokens and archives of both keys are good during a rotation, and only those of the new key after it", async () => {
  const rings = { old: ringOf(oldKey), both: ringOf(newKey, oldKey), next: ringOf(newKey) };
  const opens = async (maker: KeyRing, reader: KeyRing) => {
    const link = fileLinks(maker, "").download("f", 0).split("/").slice(2);
    const [fileId = "", expires = "", signature = ""] = link;
    const family = systemIds.short();
    const token = refreshTokens(maker, systemIds).make(family, "client");
    const content = randomBytes(100_000);
    const stored = await buffer(Readable.from([content]).pipe(createSeal(maker, "e", systemRandom)));
    const read = async (_: string, range?: { start: number; end: number }) =>
      Readable.from([stored.subarray(range?.start, (range?.end ?? stored.length) + 1)]);
    const archive = await openArchive(
      reader,
      { read },
      { exportId: "e", blobId: "b", bytes: content.length },
      { start: 70_000, end: 70_009 },
    );
    return {
      link: fileLinks(reader, "").check("downloads", { fileId, expires, signature }, 0) === "good",
      token: refreshTokens(reader, systemIds).familyOf(token, "client") === family,
      archive: await buffer(archive).then(
        (bytes) => bytes.equals(content.subarray(70_000, 70_010)),
        () => false,
      ),
    };
  };
  const [all, none] = [
    { link: true, token: true, archive: true },
    { link: false, token: false, archive: false },
  ];
  expect(await opens(rings.old, rings.both)).toEqual(all);
  expect(await opens(rings.both, rings.old)).toEqual(all);
  rings.both.sealWith(rings.both.newest);
  expect(await opens(rings.old, rings.both)).toEqual(all);
  expect(await opens(rings.both, rings.next)).toEqual(all);
  expect(await opens(rings.old, rings.next)).toEqual(none);
});
