import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { deliveryKeys } from "../../src/webhooks/sign.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";

/** SubjectPublicKeyInfo of ed25519 before its 32 bytes (RFC 8410 4). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

describeOnOne("the keys of deliveries", (kind) => {
  test("are one pair of each algorithm, also when two processes create them at the same time", async () => {
    await using database = await openTestStore(kind);
    const parts = { store: database.store, cipher, clock: stillClock(), ids: systemIds };
    const [one, other] = await Promise.all([deliveryKeys(parts), deliveryKeys(parts)].map((keys) => keys.publicKeys()));
    expect(one).toEqual(other);
    expect(one?.rsaPem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(createPublicKey(one?.rsaPem ?? "").asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
  });

  test("verify with their published public keys: PEM, and whpk_ with 32 bytes", async () => {
    await using database = await openTestStore(kind);
    const keys = deliveryKeys({ store: database.store, cipher, clock: stillClock(), ids: systemIds });
    const { rsa, ed25519 } = await keys.signing();
    const published = await keys.publicKeys();
    const bare = Buffer.from(published.ed25519.replace(/^whpk_/, ""), "base64");
    expect(bare).toHaveLength(32);
    const edKey = createPublicKey({ key: Buffer.concat([spkiPrefix, bare]), format: "der", type: "spki" });
    const content = Buffer.from("content");
    expect(verify(null, content, edKey, sign(null, content, ed25519))).toBe(true);
    expect(verify("RSA-SHA256", content, published.rsaPem, sign("RSA-SHA256", content, rsa))).toBe(true);
  });

  test("are stored encrypted in the database", async () => {
    await using database = await openTestStore(kind);
    await deliveryKeys({ store: database.store, cipher, clock: stillClock(), ids: systemIds }).signing();
    for (const algorithm of ["rsa", "ed25519"] as const) {
      const row = await database.store.webhookKeys.find(algorithm);
      if (row === null) throw new Error("it was made");
      const read = (der: Uint8Array) => createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
      expect(() => read(row.privateKey)).toThrow();
      expect(read(cipher.open(row.privateKey, `webhook_key:${row.id}`)).asymmetricKeyType).toBe(algorithm);
    }
  });

  test("that leaked are replaced, and every process signs with the new one within a minute (spec/webhooks.md 11)", async () => {
    await using database = await openTestStore(kind);
    const clock = stillClock();
    const parts = { store: database.store, cipher, clock, ids: systemIds };
    const [here, elsewhere] = [deliveryKeys(parts), deliveryKeys(parts)];
    const before = await elsewhere.publicKeys();
    await here.replace("rsa");
    const after = await here.publicKeys();
    expect(after.rsaPem).not.toBe(before.rsaPem);
    expect(after.ed25519).toBe(before.ed25519);
    await clock.advance(60_000);
    expect(await elsewhere.publicKeys()).toEqual(after);
  });
});
