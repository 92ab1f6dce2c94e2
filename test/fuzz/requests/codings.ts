import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import fc from "fast-check";
import type { Coded } from "./envelopes.ts";

/** A message that is compressed, or is not although a header says so. */
export interface Coding {
  /** The coding in the request's header; null for no header. */
  readonly name: string | null;
  readonly apply: (bytes: Uint8Array) => Coded;
  /** Codings that the answer may have. */
  readonly accept: string | null;
}

type Pack = (bytes: Uint8Array) => Uint8Array;

const asIs: Pack = (bytes) => bytes;
const gzip: Pack = (bytes) => gzipSync(bytes, { level: 1 });
const brotli: Pack = (bytes) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const zeros = Buffer.alloc(64 * 1024 ** 2);
const bombs = { gzip: gzip(zeros), br: brotli(zeros), twice: gzip(gzip(zeros)) };

/** Uncompressed. */
export const plain: Coding = { name: null, apply: (bytes) => ({ bytes, flags: 0 }), accept: null };

const coding = (name: string | null, pack: Pack, flags = 1): Omit<Coding, "accept"> => ({
  name,
  apply: (bytes) => ({ bytes: pack(bytes), flags }),
});

const cut: Pack = (bytes) => gzip(bytes).subarray(0, -3);
const spoilt: Pack = (bytes) => Buffer.from(gzip(bytes)).fill(0xff, 12, 16);

const common = [
  coding("gzip", gzip),
  coding("br", brotli),
  coding("gzip", asIs),
  coding("br", asIs),
  coding("gzip", asIs, 0),
  coding("identity", asIs, 0),
  coding("identity", asIs),
  coding("zip", asIs),
  coding("deflate", gzip),
  coding("zstd", asIs),
  coding("GZIP", gzip),
  coding("gzip, br", gzip),
  coding("", gzip),
  coding("__proto__", asIs),
  coding(null, gzip),
  coding("gzip", cut),
  coding("gzip", spoilt),
  coding("gzip", (bytes) => Buffer.concat([gzip(bytes), Buffer.from("garbage")])),
  coding("gzip", (bytes) => Buffer.concat([gzip(bytes.subarray(0, 1)), gzip(bytes.subarray(1))])),
  coding("gzip", () => new Uint8Array()),
  coding("br", gzip),
];

/** Messages that decompress to more than any request may have. */
const large = [
  coding("gzip", () => bombs.gzip),
  coding("br", () => bombs.br),
  coding("gzip", () => bombs.twice),
];

const accepted = [
  null,
  null,
  "gzip",
  "br",
  "identity",
  "*",
  "gzip;q=0",
  "zstd, br;q=0.5",
  "",
  "no such coding",
  "gzip,".repeat(200),
];

/** Codings, some of them valid. */
export const codings: fc.Arbitrary<Coding> = fc
  .tuple(
    fc.oneof(
      { weight: 60, arbitrary: fc.constantFrom(...common) },
      { weight: 1, arbitrary: fc.constantFrom(...large) },
    ),
    fc.constantFrom(...accepted),
  )
  .map(([given, accept]) => ({ ...given, accept }));
