import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, type KeyPairKeyObjectResult } from "node:crypto";
import { promisify } from "node:util";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";
import type { WebhookKey, WebhookKeyAlgorithm, WebhookKeys } from "../core/webhooks/key.ts";

/** The private halves that deliveries are signed with. */
export type SigningPair = Readonly<Record<WebhookKeyAlgorithm, KeyObject>>;

/** The installation's keys, as receivers and the sender see them. */
export interface DeliveryKeys extends WebhookKeys {
  signing(): Promise<SigningPair>;
  /**
   * Puts another pair in the place of one that has leaked: there is no overlap, for receivers know of one key only
   * (contract/webhooks.md 11). `follow` goes on in the same change.
   */
  replace(algorithm: WebhookKeyAlgorithm, follow?: (tx: Tx) => Promise<void>): Promise<void>;
}

interface Parts {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** A key that was replaced is signed with for so long at most, in whatever process. */
const knownMs = 60_000;
const rsaBits = 2048;
/** What stands before the 32 bytes of an ed25519 key in SubjectPublicKeyInfo (RFC 8410 4). */
const ed25519PrefixLength = 12;

type Known = Readonly<Record<WebhookKeyAlgorithm, { readonly row: WebhookKey; readonly key: KeyObject }>>;

/** Keys are made when they are needed first; of two processes that make them at once, one wins. */
export function deliveryKeys({ store, cipher, clock, ids }: Parts): DeliveryKeys {
  let known: { readonly keys: Promise<Known>; readonly until: number } | undefined;

  async function make(algorithm: WebhookKeyAlgorithm): Promise<WebhookKey> {
    const id = ids.short();
    const pair = await newPair(algorithm);
    const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
    const privateKey = cipher.seal(pair.privateKey.export({ type: "pkcs8", format: "der" }), contextOf(id));
    return { id, algorithm, publicKey, privateKey, createdAt: clock.now() };
  }

  async function found(algorithm: WebhookKeyAlgorithm): Promise<WebhookKey> {
    const row = await store.webhookKeys.find(algorithm);
    if (row !== null) return row;
    const draft = await make(algorithm);
    await store.change((tx) => tx.webhookKeys.insert(draft));
    return found(algorithm);
  }

  async function open(algorithm: WebhookKeyAlgorithm): Promise<Known[WebhookKeyAlgorithm]> {
    const row = await found(algorithm);
    const der = cipher.open(row.privateKey, contextOf(row.id));
    return { row, key: createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" }) };
  }

  async function read(): Promise<Known> {
    const [rsa, ed25519] = await Promise.all([open("rsa"), open("ed25519")]);
    return { rsa, ed25519 };
  }

  function keys(): Promise<Known> {
    if (known !== undefined && clock.monotonic() < known.until) return known.keys;
    const reading = { keys: read(), until: clock.monotonic() + knownMs };
    known = reading;
    reading.keys.catch(() => {
      if (known === reading) known = undefined;
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
      return { rsaPem: rsa.row.publicKey, rsaCreatedAt: rsa.row.createdAt, ed25519: shownEd25519(ed25519.row.publicKey) };
    },
    async replace(algorithm, follow) {
      const draft = await make(algorithm);
      await store.change(async (tx) => {
        const before = await tx.webhookKeys.find(algorithm);
        await tx.webhookKeys.remove(algorithm);
        await tx.webhookKeys.insert(draft);
        tx.audit.note({ subject: draft.id, before: before && { id: before.id, algorithm }, after: { id: draft.id, algorithm } });
        await follow?.(tx);
      });
      known = undefined;
    },
  };
}

/** Of Standard Webhooks: `whpk_` and the bare key in base64. */
function shownEd25519(pem: string): string {
  const spki = createPublicKey(pem).export({ format: "der", type: "spki" });
  return `whpk_${spki.subarray(ed25519PrefixLength).toString("base64")}`;
}

const newPair = (algorithm: WebhookKeyAlgorithm): Promise<KeyPairKeyObjectResult> =>
  algorithm === "rsa" ? promisify(generateKeyPair)("rsa", { modulusLength: rsaBits }) : promisify(generateKeyPair)("ed25519");

const contextOf = (id: string): string => `webhook_key:${id}`;
