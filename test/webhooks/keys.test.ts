import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { constructEvent, type WebhookKeys } from "../../packages/client/src/index.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { PublicWebhookKeys } from "../../src/core/webhooks/webhook.ts";
import { type DeliveryKeys, deliveryKeys } from "../../src/webhooks/keys.ts";
import { signedHeaders } from "../../src/webhooks/sign.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";

/** SubjectPublicKeyInfo of ed25519 before its 32 bytes (RFC 8410 4). */
const spkiPrefix = Buffer.from("302a300506032b6570032100", "hex");

describeOnOne("the keys of deliveries", (kind) => {
  test("are one pair of each algorithm, also when two processes create them at the same time", async () => {
    await using database = await openTestStore(kind);
    const parts = { store: database.store, cipher, clock: stillClock(), ids: systemIds };
    const [one, other] = await Promise.all(
      [deliveryKeys(parts), deliveryKeys(parts)].map((keys) => keys.publicKeys()),
    );
    expect(one).toEqual(other);
    expect(one?.rsa.text).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
    expect(createPublicKey(one?.rsa.text ?? "").asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
  });

  test("verify with their published public keys: PEM, and whpk_ with 32 bytes", async () => {
    await using database = await openTestStore(kind);
    const keys = deliveryKeys({ store: database.store, cipher, clock: stillClock(), ids: systemIds });
    const { rsa, ed25519: edKeys } = await keys.signing();
    const [ed25519] = edKeys;
    if (ed25519 === undefined) throw new Error("an installation has one");
    const published = await keys.publicKeys();
    const bare = Buffer.from(published.ed25519.text.replace(/^whpk_/, ""), "base64");
    expect(bare).toHaveLength(32);
    const edKey = createPublicKey({ key: Buffer.concat([spkiPrefix, bare]), format: "der", type: "spki" });
    const content = Buffer.from("content");
    expect(verify(null, content, edKey, sign(null, content, ed25519))).toBe(true);
    expect(verify("RSA-SHA256", content, published.rsa.text, sign("RSA-SHA256", content, rsa))).toBe(true);
  });

  test("are stored encrypted in the database", async () => {
    await using database = await openTestStore(kind);
    await deliveryKeys({ store: database.store, cipher, clock: stillClock(), ids: systemIds }).signing();
    for (const algorithm of ["rsa", "ed25519"] as const) {
      const row = (await database.store.webhookKeys.list()).find((each) => each.algorithm === algorithm);
      if (row === undefined) throw new Error("it was made");
      const read = (der: Uint8Array) =>
        createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
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
    await here.replace("rsa", 0);
    const after = await here.publicKeys();
    expect(after.rsa.text).not.toBe(before.rsa.text);
    expect(after.ed25519).toEqual(before.ed25519);
    await clock.advance(60_000);
    expect(await elsewhere.publicKeys()).toEqual(after);
  });
});

const hourMs = 3_600_000;
const url = "https://hooks.example.com/in";
const body = new TextEncoder().encode('{"event_id":"e1","event_type":"webhook_test"}');

/** Receivers by what they read from `webhook.publicKey`. */
const receivers: Readonly<Record<string, (keys: PublicWebhookKeys) => WebhookKeys>> = {
  "all RSA keys": ({ all }) => ({
    url,
    publicKey: all.filter(({ algorithm }) => algorithm === "rsa").map(({ text }) => text),
  }),
  "all ed25519 keys": ({ all }) => ({
    ed25519PublicKey: all.filter(({ algorithm }) => algorithm === "ed25519").map(({ text }) => text),
  }),
  "the current ed25519 key": ({ ed25519 }) => ({ ed25519PublicKey: ed25519.text }),
};

/** Names of the receivers that refuse a delivery of this time, by keys that they read before. */
async function refusing(
  keys: DeliveryKeys,
  now: number,
  read: PublicWebhookKeys,
): Promise<readonly string[]> {
  const event = { eventId: "e1", url, body, at: Math.floor(now / 1000) };
  const headers = await signedHeaders(event, { keys: await keys.signing(), secrets: [], doubleHash: false });
  const outcomes = Object.entries(receivers).map(async ([name, keysOf]) => {
    const accepted = await constructEvent(body, headers, keysOf(read), { now }).then(Boolean, () => false);
    return accepted ? [] : [name];
  });
  return (await Promise.all(outcomes)).flat();
}

describe("a replacement of both keys with an overlap of 4 hours (spec/decisions.md 122)", () => {
  test("makes no receiver refuse a delivery, though processes and receivers know the new keys late", async () => {
    await using database = await openTestStore("sqlite");
    const clock = stillClock();
    const parts = { store: database.store, cipher, clock, ids: systemIds };
    const [one, other] = [deliveryKeys(parts), deliveryKeys(parts)];
    const first = await one.publicKeys();
    // A receiver reads the keys at most an hour before the delivery. A process reads them once a minute.
    const reads = [first, await other.publicKeys()];
    await one.replace("rsa", 4 * hourMs);
    await one.replace("ed25519", 4 * hourMs);
    const current = new Set<string>();
    for (let minute = 0; minute < 6 * 60; minute += 10) {
      const now = clock.now();
      const recent = reads.slice(-12); // of an hour, by both processes
      for (const keys of [one, other])
        for (const read of recent) expect([minute, ...(await refusing(keys, now, read))]).toEqual([minute]);
      reads.push(await one.publicKeys(), await other.publicKeys());
      current.add((await one.publicKeys()).rsa.text);
      await clock.advance(10 * 60_000);
    }
    const last = await one.publicKeys();
    expect([...current]).toEqual([first.rsa.text, last.rsa.text]);
    expect(last.rsa.signsFrom - first.rsa.createdAt).toBe(4 * hourMs);
    expect(last.all).toEqual([last.rsa, last.ed25519]);
    expect(await refusing(one, clock.now(), first)).toEqual(Object.keys(receivers));
  });
});

describeOnOne("a replaced key of deliveries", (kind) => {
  test("is deleted when it is retired, and a replacement that waits refuses another", async () => {
    await using database = await openTestStore(kind);
    const clock = stillClock();
    const keys = deliveryKeys({ store: database.store, cipher, clock, ids: systemIds });
    const algorithms = async () =>
      (await database.store.webhookKeys.list()).map(({ algorithm, number }) => [algorithm, number]);
    await keys.publicKeys();
    await keys.replace("rsa", 2 * hourMs);
    await expect(keys.replace("rsa", 2 * hourMs)).rejects.toMatchObject({ reason: "failed_precondition" });
    const purge = () => database.store.change((tx) => tx.webhookKeys.purge(clock.now()));
    await clock.advance(3 * hourMs);
    expect(await purge()).toBe(0);
    await clock.advance(1);
    expect(await purge()).toBe(1);
    expect((await algorithms()).toSorted()).toEqual([
      ["ed25519", 1],
      ["rsa", 2],
    ]);
    await keys.replace("rsa", 2 * hourMs);
    await keys.replace("rsa", 0); // it has leaked
    expect((await algorithms()).toSorted()).toEqual([
      ["ed25519", 1],
      ["rsa", 4],
    ]);
  });

  test("has one successor when two commands replace it at the same time", async () => {
    await using database = await openTestStore(kind);
    const parts = { store: database.store, cipher, clock: stillClock(), ids: systemIds };
    await deliveryKeys(parts).publicKeys();
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => deliveryKeys(parts).replace("ed25519", 2 * hourMs)),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect((await deliveryKeys(parts).publicKeys()).all).toHaveLength(3);
  });
});
