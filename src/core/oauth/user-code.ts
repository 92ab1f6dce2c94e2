import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Random } from "../ids.ts";
import { countThisHour } from "../processes/hourly.ts";
import type { RateCounters } from "../processes/shared.ts";

/** Consonants only, so that no code is a word (RFC 8628 6.1). */
const letters = "BCDFGHJKLMNPQRSTVWXZ";
const length = 8;
/** Bytes at or above it are dropped, so that all letters are equally likely. */
const byteMax = 256 - (256 % letters.length);
/** The longest text that is read as a code. */
const typedMax = 64;

/** A new user code, 8 letters. */
export function newUserCode(random: Random): string {
  let code = "";
  while (code.length < length) {
    const usable = [...random(length * 2)].filter((byte) => byte < byteMax);
    code += usable.map((byte) => letters[byte % letters.length]).join("");
  }
  return code.slice(0, length);
}

/** The code in the form in which people read it: `XXXX-XXXX`. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** The code that a person typed, in any case, with any spaces and punctuation; null for another text. */
export function parseUserCode(typed: string): string | null {
  if (typed.length > typedMax) return null;
  const code = typed.toUpperCase().replace(/[^\p{L}\p{N}]/gu, "");
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : null;
}

/** The stored form of a user code, lower-case hex. */
export const userCodeDigest = (code: string): string =>
  createHash("sha256").update(`user code ${code}`).digest("hex");

/** Wrong codes an hour (spec/api.md 8.113). */
const perHour = { session: 5, address: 20 } as const;

/**
 * Counts an entry of a code before the code is looked up, and gives it back if the code was right: wrong
 * codes count, however many arrive at once. RATE_LIMITS does not change this limit.
 */
export interface CodeEntries {
  /** @returns what to call when the code is right. @throws Failure `rate_limited` */
  count(sessionId: string, address: string): Promise<() => Promise<void>>;
}

/** @param network the part of an address that counts as one client. */
export function codeEntries(
  counters: RateCounters,
  clock: Clock,
  network: (address: string) => string,
): CodeEntries {
  return {
    async count(sessionId, address) {
      const now = clock.now();
      const keys = { session: `user code session ${sessionId}`, address: `user code ${network(address)}` };
      const count = (kind: keyof typeof keys) =>
        countThisHour(counters, now, {
          key: keys[kind],
          max: perHour[kind],
          refusal: "too many wrong codes",
        });
      await count("session");
      const minute = await count("address");
      return async () => {
        for (const key of Object.values(keys)) await counters.give(key, minute, 1);
      };
    },
  };
}
