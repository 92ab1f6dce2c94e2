import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";

/** Content codings by their HTTP names; most packed data here is one pattern, which each makes tiny. */
export const codings = {
  identity: (bytes: Uint8Array): Uint8Array => bytes,
  gzip: (bytes: Uint8Array): Uint8Array => gzipSync(bytes, { level: 9 }),
  deflate: (bytes: Uint8Array): Uint8Array => deflateSync(bytes, { level: 9 }),
  br: (bytes: Uint8Array): Uint8Array =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
} as const;

export type Coding = keyof typeof codings;
