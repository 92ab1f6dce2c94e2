import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from "node:crypto";
import { promisify } from "node:util";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import {
  type PublicWebhookKey,
  type WebhookKey,
  type WebhookKeyAlgorithm,
  type WebhookKeys,
  webhookKeyContext,
} from "../core/webhooks/webhook.ts";

export interface SigningKeys {
  readonly rsa: KeyObject;
  /** The current key, and while a replacement is planned the others that are published. */
  readonly ed25519: readonly KeyObject[];
}

/** The installation's keys, for receivers and the sender. */
export interface DeliveryKeys extends WebhookKeys {
  signing(): Promise<SigningKeys>;
  /**
   * Replaces a key pair. `follow` runs in the same change.
   *
   * With an overlap in milliseconds the new key is published at once, becomes the current key after it, and
   * the old one is published an hour longer. Without an overlap the old keys are deleted at once, because
   * they have leaked (spec/webhooks.md 11).
   *
   * @throws Failure `failed_precondition` while a planned replacement waits for its time, and
   * `already_exists` when two replace a key at once
   */
  replace(
    algorithm: WebhookKeyAlgorithm,
    overlapMs: number,
    follow?: (tx: Tx) => Promise<void>,
  ): Promise<PublicWebhookKey>;
}

interface Parts {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** The longest time for which a process does not know of a replacement. */
const cacheMs = 60_000;
/** How long receivers cache the public keys (spec/webhooks.md 5.4). */
const receiversCacheMs = 3_600_000;
const rsaBits = 2048;
/** The number of bytes before the 32 bytes of an ed25519 key in SubjectPublicKeyInfo (RFC 8410 4). */
const ed25519PrefixLength = 12;

interface OpenedKey {
  readonly row: WebhookKey;
  readonly key: KeyObject;
}

/** Keys are created on first use. If two processes create them at the same time, one wins. */
export function deliveryKeys({ store, cipher, clock, ids }: Parts): DeliveryKeys {
  let cached: { keys: Promise<readonly OpenedKey[]>; until: number } | undefined;

  async function createKey(algorithm: WebhookKeyAlgorithm, overlapMs = 0): Promise<WebhookKey> {
    const id = ids.short();
    const pair = await newPair(algorithm);
    const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
    const privateKey = cipher.seal(
      pair.privateKey.export({ type: "pkcs8", format: "der" }),
      webhookKeyContext(id),
    );
    const now = clock.now();
    return {
      id,
      algorithm,
      number: 1,
      publicKey,
      privateKey,
      createdAt: now,
      signsFrom: now + overlapMs,
      retiresAt: null,
    };
  }

  async function listOrCreate(): Promise<readonly WebhookKey[]> {
    const rows = await store.webhookKeys.list();
    const missing = (["rsa", "ed25519"] as const).filter(
      (algorithm) => !rows.some((row) => row.algorithm === algorithm),
    );
    if (missing.length === 0) return rows;
    const drafts = await Promise.all(missing.map((algorithm) => createKey(algorithm)));
    await store.change(async (tx) => {
      for (const draft of drafts) await tx.webhookKeys.insert(draft);
    });
    return listOrCreate();
  }

  function open(row: WebhookKey): OpenedKey {
    const der = cipher.open(row.privateKey, webhookKeyContext(row.id));
    return { row, key: createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" }) };
  }

  function keys(): Promise<readonly OpenedKey[]> {
    if (cached !== undefined && clock.monotonic() < cached.until) return cached.keys;
    const reading = {
      keys: listOrCreate().then((rows) => rows.map(open)),
      until: clock.monotonic() + cacheMs,
    };
    cached = reading;
    reading.keys.catch(() => {
      if (cached === reading) cached = undefined;
    });
    return reading.keys;
  }

  return {
    async signing() {
      const published = unretired(await keys(), clock.now());
      const ed25519 = published.filter(({ row }) => row.algorithm === "ed25519").map(({ key }) => key);
      return { rsa: currentKey(published, "rsa", clock.now()).key, ed25519 };
    },
    async publicKeys() {
      const published = unretired(await keys(), clock.now());
      const current = (algorithm: WebhookKeyAlgorithm) =>
        publicKeyOf(currentKey(published, algorithm, clock.now()).row);
      return {
        rsa: current("rsa"),
        ed25519: current("ed25519"),
        all: published.map(({ row }) => publicKeyOf(row)),
      };
    },
    async replace(algorithm, overlapMs, follow) {
      const draft = await createKey(algorithm, overlapMs);
      const replaced = await store.change(async (tx) => {
        const before = (await tx.webhookKeys.list()).filter((row) => row.algorithm === algorithm);
        const number = Math.max(0, ...before.map((row) => row.number)) + 1;
        const planned = before.length > 0 && overlapMs > 0;
        const key = planned ? { ...draft, number } : { ...draft, number, signsFrom: draft.createdAt };
        if (planned) await retireKeys(tx, before, key);
        else await tx.webhookKeys.remove(algorithm);
        if (!(await tx.webhookKeys.insert(key)))
          throw new Failure("already_exists", "another command replaced this key at the same time");
        tx.audit.note({
          subject: key.id,
          before: before.length === 0 ? null : notedOf(before.at(-1) ?? key),
          after: notedOf(key),
        });
        await follow?.(tx);
        return key;
      });
      cached = undefined;
      return publicKeyOf(replaced);
    },
  };
}

/** The keys that are replaced stay published until receivers have surely read the new one. */
async function retireKeys(
  tx: Tx,
  before: readonly WebhookKey[],
  { algorithm, createdAt, signsFrom }: WebhookKey,
): Promise<void> {
  const waiting = before.find((row) => row.signsFrom > createdAt);
  if (waiting !== undefined) {
    const at = new Date(waiting.signsFrom).toISOString();
    throw new Failure(
      "failed_precondition",
      `a replacement of the ${algorithm} key becomes current at ${at}; wait for it, or replace the key without an overlap`,
    );
  }
  await tx.webhookKeys.retire(algorithm, signsFrom + receiversCacheMs);
}

const unretired = (keys: readonly OpenedKey[], now: number): readonly OpenedKey[] =>
  keys.filter(({ row }) => row.retiresAt === null || row.retiresAt > now);

/** The newest key whose time has come. */
function currentKey(keys: readonly OpenedKey[], algorithm: WebhookKeyAlgorithm, now: number): OpenedKey {
  const ofAlgorithm = keys.filter(({ row }) => row.algorithm === algorithm);
  const current = ofAlgorithm.findLast(({ row }) => row.signsFrom <= now) ?? ofAlgorithm[0];
  if (current === undefined) throw new Error(`no ${algorithm} key`);
  return current;
}

/** What the audit log shows of a key. */
const notedOf = ({ id, algorithm, signsFrom }: WebhookKey) => ({ id, algorithm, signs_from: signsFrom });

function publicKeyOf({
  algorithm,
  publicKey,
  createdAt,
  signsFrom,
  retiresAt,
}: WebhookKey): PublicWebhookKey {
  return {
    algorithm,
    text: algorithm === "rsa" ? publicKey : formatEd25519(publicKey),
    createdAt,
    signsFrom,
    retiresAt,
  };
}

/** The form of Standard Webhooks: `whpk_` and the raw key in base64. */
function formatEd25519(pem: string): string {
  const spki = createPublicKey(pem).export({ format: "der", type: "spki" });
  return `whpk_${spki.subarray(ed25519PrefixLength).toString("base64")}`;
}

const newPair = (algorithm: WebhookKeyAlgorithm): Promise<KeyPairKeyObjectResult> =>
  algorithm === "rsa"
    ? promisify(generateKeyPair)("rsa", { modulusLength: rsaBits })
    : promisify(generateKeyPair)("ed25519");
