import { randomBytes } from "node:crypto";

/** Random bytes as a parameter: `randomBytes` in the server, a seeded stream in tests. */
export type Random = (bytes: number) => Uint8Array;

/** 57 symbols that are hard to confuse (spec/api.md 6). */
const alphabet = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const length = 22;
const base = BigInt(alphabet.length);
/** The largest multiple of 57 in a byte: bytes from here on would favour some symbols. */
const fair = 256 - (256 % alphabet.length);

/** Makes every identifier of the platform. */
export interface Ids {
  /** 22 symbols, about 128 bits: tasks, projects, spaces, keys, members. */
  short(): string;
  /** A version 4 UUID: accounts. */
  uuid(): string;
  /** `req_` and a short id (spec/api.md 14.1). */
  request(): string;
}

/** Creates ids from a source of random bytes. */
export function idsFrom(random: Random): Ids {
  const short = () => {
    let id = "";
    while (id.length < length) {
      for (const byte of random(32)) {
        if (byte < fair && id.length < length) id += alphabet[byte % alphabet.length];
      }
    }
    return id;
  };
  return { short, uuid: () => uuidFrom(random(16)), request: () => `req_${short()}` };
}

/** Encodes 16 bytes as a short id. Equal bytes give equal ids. */
export function shortIdFrom(bytes: Uint8Array): string {
  let rest = Buffer.from(bytes.subarray(0, 16)).reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  let text = "";
  for (; text.length < length; rest /= base) text += alphabet[Number(rest % base)];
  return text;
}

export const isShortId = (text: string): boolean => /^[2-9A-HJ-NP-Za-km-z]{22}$/.test(text);

function uuidFrom(bytes: Uint8Array): string {
  const b = Buffer.from(bytes);
  b.writeUInt8((b.readUInt8(6) & 0x0f) | 0x40, 6);
  b.writeUInt8((b.readUInt8(8) & 0x3f) | 0x80, 8);
  return b.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export const systemRandom: Random = (bytes) => randomBytes(bytes);

/**
 * Random bytes of a source, which are requested `size` bytes at a time, because each request of the operating
 * system costs more than the bytes. For ids, never for secrets: bytes that are not taken yet stay in memory.
 * Those that are taken are set to zero there.
 */
export function pooled(random: Random, size = 8_192): Random {
  let pool = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > size) return random(bytes);
    if (pool.length < bytes) pool = Buffer.from(random(size));
    const taken = Uint8Array.from(pool.subarray(0, bytes));
    pool.fill(0, 0, bytes);
    pool = pool.subarray(bytes);
    return taken;
  };
}

export const systemIds: Ids = idsFrom(pooled(systemRandom));
