import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { Clock } from "./clock.ts";
import type { Random } from "./ids.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Encrypts values with AES-256-GCM under the installation's key, and authenticates texts under keys derived
 * from it.
 */
export interface Cipher {
  /**
   * Returns `nonce ‖ tag ‖ ciphertext`. `context` names the value's purpose; `open` needs the same context.
   */
  seal(plain: Uint8Array, context: string): Bytes;
  /** Throws when the bytes were not sealed with a key of this installation and this context. */
  open(sealed: Uint8Array, context: string): Bytes;
  /** Each kind has its own key, derived from the installation's (HKDF, RFC 5869). */
  createMac(kind: string): Mac;
  /** Derives a 32-byte key for this kind and salt, to encrypt data that is too large for one `seal`. */
  derive(kind: string, salt: Uint8Array): Bytes;
  /** The keys with which data of this kind and salt may be encrypted: that of `derive` comes first. */
  deriveAll(kind: string, salt: Uint8Array): readonly Bytes[];
  /** Identifies the key of `seal` without revealing it. */
  readonly check: string;
}

/** Computes the HMAC-SHA256 of a text. */
export interface Mac {
  (text: string): Bytes;
  /** By each key of the installation: two while the key is rotated. To verify a MAC, compare it with all. */
  all(text: string): readonly Bytes[];
}

/**
 * The encryption key, and while it is rotated also the previous one: values of both are read, and one of them
 * seals.
 */
export interface KeyRing extends Cipher {
  /** The keys' check values; the one that seals comes first. */
  readonly checks: readonly string[];
  /** The check value of the newer key. */
  readonly newest: string;
  /** Seals with the key of this check value from now on. False when the ring does not have it. */
  sealWith(check: string): boolean;
  /** Whether the key of this check value sealed these bytes. */
  isSealedBy(check: string, sealed: Uint8Array, context: string): boolean;
}

const algorithm = "aes-256-gcm";
const nonceLength = 12;
const tagLength = 16;

interface SingleKey extends Pick<Cipher, "seal" | "open" | "derive" | "check"> {
  mac(kind: string): (text: string) => Bytes;
}

/**
 * @param key 32 bytes.
 * @param previous the key that `key` replaces, while the key is rotated. It seals until `sealWith` names the
 * other one.
 */
export function cipherFrom(key: Uint8Array, random: Random, previous: Uint8Array | null = null): KeyRing {
  const newest = singleKey(key, random);
  let order: readonly [SingleKey, ...SingleKey[]] =
    previous === null ? [newest] : [singleKey(previous, random), newest];
  return {
    seal: (plain, context) => order[0].seal(plain, context),
    open: (sealed, context) => firstThatOpens(order, (each) => each.open(sealed, context)),
    createMac(kind) {
      const macs = new Map(order.map((each) => [each, each.mac(kind)]));
      const all = (text: string) => order.map((each) => (macs.get(each) ?? each.mac(kind))(text));
      return Object.assign((text: string) => (macs.get(order[0]) ?? order[0].mac(kind))(text), { all });
    },
    derive: (kind, salt) => order[0].derive(kind, salt),
    deriveAll: (kind, salt) => order.map((each) => each.derive(kind, salt)),
    get check() {
      return order[0].check;
    },
    get checks() {
      return order.map(({ check }) => check);
    },
    newest: newest.check,
    sealWith(check) {
      const found = order.find((each) => each.check === check);
      if (found) order = [found, ...order.filter((each) => each !== found)];
      return found !== undefined;
    },
    isSealedBy(check, sealed, context) {
      const found = order.find((each) => each.check === check);
      try {
        return found?.open(sealed, context) !== undefined;
      } catch {
        return false;
      }
    },
  };
}

/** @throws what the last of them throws */
function firstThatOpens<K, T>([key, ...others]: readonly [K, ...K[]], open: (key: K) => T): T {
  const [next, ...rest] = others;
  if (next === undefined) return open(key);
  try {
    return open(key);
  } catch {
    return firstThatOpens([next, ...rest], open);
  }
}

function singleKey(key: Uint8Array, random: Random): SingleKey {
  return {
    seal(plain, context) {
      const nonce = random(nonceLength);
      const sealing = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([sealing.update(plain), sealing.final()]);
      return Uint8Array.from(Buffer.concat([nonce, sealing.getAuthTag(), body]));
    },
    open(sealed, context) {
      const opening = createDecipheriv(algorithm, key, sealed.subarray(0, nonceLength), {
        authTagLength: tagLength,
      });
      opening.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(nonceLength, nonceLength + tagLength));
      return Uint8Array.from(
        Buffer.concat([opening.update(sealed.subarray(nonceLength + tagLength)), opening.final()]),
      );
    },
    mac(kind) {
      const derived = Buffer.from(hkdfSync("sha256", key, "", kind, 32));
      return (text) => Uint8Array.from(createHmac("sha256", derived).update(text).digest());
    },
    derive: (kind, salt) => new Uint8Array(hkdfSync("sha256", key, salt, kind, 32)),
    check: createHmac("sha256", key).update("encryption key check").digest("hex"),
  };
}

/**
 * Seals a value that a browser keeps but cannot read or change. It expires after
 * `ms` milliseconds. `context` names the value's purpose and its owner.
 */
export function sealExpiring(
  cipher: Cipher,
  clock: Clock,
  context: string,
  value: object,
  ms: number,
): string {
  const text = JSON.stringify({ value, expiresAt: clock.now() + ms });
  return Buffer.from(cipher.seal(Buffer.from(text), context)).toString("base64url");
}

/**
 * Opens a value that `sealExpiring` sealed. Returns null for any other text, another context or an expired
 * value. The caller chooses the type: only this installation can have sealed the value.
 */
export function openExpiring<T extends object>(
  cipher: Cipher,
  clock: Clock,
  context: string,
  text: string,
): T | null {
  try {
    const opened = Buffer.from(cipher.open(Buffer.from(text, "base64url"), context)).toString();
    const { value, expiresAt } = JSON.parse(opened) as { value: T; expiresAt: number }; // Safe cast: only this installation can seal a value.
    return expiresAt > clock.now() ? value : null;
  } catch {
    return null;
  }
}
