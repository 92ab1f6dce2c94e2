import { Failure } from "../failure.ts";

/** The word that the contract's pages have for both limits (contract/v2.md 14.3). */
const word = "QuotaExceededError";

/** One file is too large. @param max bytes. */
export const tooLarge = (max: number): Failure => new Failure("too_large", `${word}: at most ${max} bytes are taken here`);

/** An account has no room. @param quota bytes. */
export const overQuota = (quota: number): Failure =>
  new Failure("exhausted", `${word}: the files of an account take at most ${quota} bytes; delete some, or wait until they expire`);
