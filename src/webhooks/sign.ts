import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  type KeyPairKeyObjectResult,
  sign,
} from "node:crypto";
import { promisify } from "node:util";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import { type WebhookKey, type WebhookKeyAlgorithm, type WebhookKeys, webhookKeyContext } from "../core/webhooks/webhook.ts";

/** The private keys that sign deliveries. */
type SigningPair = Readonly<Record<WebhookKeyAlgorithm, KeyObject>>;

/** The installation's keys, for receivers and the sender. */
export interface DeliveryKeys extends WebhookKeys {
  signing(): Promise<SigningPair>;
  /**
   * Replaces a leaked key pair. There is no overlap, because receivers know only one key (spec/webhooks.md 11). `follow`
   * runs in the same change.
   */
  replace(algorithm: WebhookKeyAlgorithm, follow?: (tx: Tx) => Promise<void>): Promise<void>;
}

interface Parts {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** The longest time for which a process still signs with a replaced key. */
const cacheMs = 60_000;
const rsaBits = 2048;
/** The number of bytes before the 32 bytes of an ed25519 key in SubjectPublicKeyInfo (RFC 8410 4). */
const ed25519PrefixLength = 12;

type CachedKeys = Readonly<Record<WebhookKeyAlgorithm, { readonly row: WebhookKey; readonly key: KeyObject }>>;

/** Keys are created on first use. If two processes create them at the same time, one wins. */
export function deliveryKeys({ store, cipher, clock, ids }: Parts): DeliveryKeys {
  let cached: { readonly keys: Promise<CachedKeys>; readonly until: number } | undefined;

  async function createKey(algorithm: WebhookKeyAlgorithm): Promise<WebhookKey> {
    const id = ids.short();
    const pair = await newPair(algorithm);
    const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
    const privateKey = cipher.seal(pair.privateKey.export({ type: "pkcs8", format: "der" }), webhookKeyContext(id));
    return { id, algorithm, publicKey, privateKey, createdAt: clock.now() };
  }

  async function findOrCreate(algorithm: WebhookKeyAlgorithm): Promise<WebhookKey> {
    const row = await store.webhookKeys.find(algorithm);
    if (row !== null) return row;
    const draft = await createKey(algorithm);
    await store.change((tx) => tx.webhookKeys.insert(draft));
    return findOrCreate(algorithm);
  }

  async function open(algorithm: WebhookKeyAlgorithm): Promise<CachedKeys[WebhookKeyAlgorithm]> {
    const row = await findOrCreate(algorithm);
    const der = cipher.open(row.privateKey, webhookKeyContext(row.id));
    return { row, key: createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" }) };
  }

  async function read(): Promise<CachedKeys> {
    const [rsa, ed25519] = await Promise.all([open("rsa"), open("ed25519")]);
    return { rsa, ed25519 };
  }

  function keys(): Promise<CachedKeys> {
    if (cached !== undefined && clock.monotonic() < cached.until) return cached.keys;
    const reading = { keys: read(), until: clock.monotonic() + cacheMs };
    cached = reading;
    reading.keys.catch(() => {
      if (cached === reading) cached = undefined;
    });
    return reading.keys;
  }

  return {
    async signing() {
      const { rsa, ed25519 } = await keys();
      return { rsa: rsa.key, ed25519: ed25519.key };
    },
    async publicKeys() {
      const { rsa, ed25519 } = await keys();
      return { rsaPem: rsa.row.publicKey, rsaCreatedAt: rsa.row.createdAt, ed25519: formatEd25519(ed25519.row.publicKey) };
    },
    async replace(algorithm, follow) {
      const draft = await createKey(algorithm);
      await store.change(async (tx) => {
        const before = await tx.webhookKeys.find(algorithm);
        await tx.webhookKeys.remove(algorithm);
        await tx.webhookKeys.insert(draft);
        tx.audit.note({ subject: draft.id, before: before && { id: before.id, algorithm }, after: { id: draft.id, algorithm } });
        await follow?.(tx);
      });
      cached = undefined;
    },
  };
}

/** The form of Standard Webhooks: `whpk_` and the raw key in base64. */
function formatEd25519(pem: string): string {
  const spki = createPublicKey(pem).export({ format: "der", type: "spki" });
  return `whpk_${spki.subarray(ed25519PrefixLength).toString("base64")}`;
}

const newPair = (algorithm: WebhookKeyAlgorithm): Promise<KeyPairKeyObjectResult> =>
  algorithm === "rsa" ? promisify(generateKeyPair)("rsa", { modulusLength: rsaBits }) : promisify(generateKeyPair)("ed25519");

/** The signed parts of a request: its bytes and its address. */
export interface Signable {
  readonly eventId: string;
  /** Exactly as registered, byte for byte. */
  readonly url: string;
  readonly body: Uint8Array;
  /** Unix seconds, of this attempt. */
  readonly at: number;
}

/** The keys and secrets for one receiver. */
export interface Signer {
  readonly keys: SigningPair;
  /** The webhook's secrets of Standard Webhooks: two while the old one is still valid. */
  readonly secrets: readonly Uint8Array[];
  /** For receivers built from the old samples, which hash twice (spec/webhooks.md 5.2). */
  readonly doubleHash: boolean;
}

/** The callback form signs on the thread pool. The synchronous form would block the event loop for 1 ms each time. */
const signInPool = promisify<string | null, Uint8Array, KeyObject, Buffer>(sign);

/** The headers that a receiver verifies: the specification's own, and those of Standard Webhooks. */
export async function signedHeaders(signable: Signable, signer: Signer): Promise<Readonly<Record<string, string>>> {
  const [rsa, items] = await Promise.all([rsaSignature(signable, signer), standardSignatures(signable, signer)]);
  return {
    "x-webhook-signature": rsa,
    "x-webhook-timestamp": String(signable.at),
    "webhook-id": signable.eventId,
    "webhook-timestamp": String(signable.at),
    "webhook-signature": items.join(" "),
  };
}

/** RSASSA-PKCS1-v1_5 with SHA-256 over `signedContent`, in base64 (spec/webhooks.md 5.1). */
async function rsaSignature(signable: Signable, { keys, doubleHash }: Signer): Promise<string> {
  const content = Buffer.from(signedContent(signable));
  const signed = await signInPool("RSA-SHA256", doubleHash ? createHash("sha256").update(content).digest() : content, keys.rsa);
  return signed.toString("base64");
}

/** Timestamp, registered URL and the body's SHA-256 in hex, separated by full stops (spec/webhooks.md 5.1). */
export const signedContent = ({ at, url, body }: Omit<Signable, "eventId">): string =>
  `${at}.${url}.${createHash("sha256").update(body).digest("hex")}`;

/** `v1,…` for each secret, and `v1a,…` (spec/webhooks.md 7). */
async function standardSignatures({ eventId, at, body }: Signable, { keys, secrets }: Signer): Promise<string[]> {
  const content = Buffer.concat([Buffer.from(`${eventId}.${at}.`), body]);
  const shared = secrets.map((secret) => `v1,${createHmac("sha256", secret).update(content).digest("base64")}`);
  const signed = await signInPool(null, content, keys.ed25519);
  return [...shared, `v1a,${signed.toString("base64")}`];
}
