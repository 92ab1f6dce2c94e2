/** Unix milliseconds as the contract's Unix seconds. */
export const seconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));
