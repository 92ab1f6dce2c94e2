import { createHash, timingSafeEqual } from "node:crypto";
import type { Cipher } from "../cipher.ts";
import { type Ids, isShort, shortOf } from "../ids.ts";

/** A refresh token is good for thirty days after its issue; each rotation begins them anew (contract/oauth.md 7, 12). */
export const refreshMs = 30 * 24 * 3_600_000;

/** Makes and reads refresh tokens: `refresh_<family>_<random>_<mark>`. */
export interface RefreshTokens {
  /**
   * @param after the one whose place it takes. Where repeats are answered, it is derived from that and from the
   * installation's key, so that the answer can be given once more and nothing of it is kept.
   */
  make(familyId: string, clientId: string, after?: string): string;
  /** For so long a repeated refresh gets the pair that the first one got; 0: never, as the contract has it (contract/decisions.md 31). */
  readonly replayMs: number;
  /**
   * The family of a token that was issued to this client, be it long rotated away; null
   * for one that never was. Nothing is looked up: the third part is a mark over the others.
   */
  familyOf(text: string, clientId: string): string | null;
}

export function refreshTokens(cipher: Cipher, ids: Pick<Ids, "short">, replayMs = 0): RefreshTokens {
  const mark = cipher.marker("refresh token");
  const next = cipher.marker("next refresh token");
  const markOf = (familyId: string, random: string, clientId: string) => shortOf(mark(`${familyId}_${random}_${clientId}`));
  return {
    replayMs,
    make(familyId, clientId, after) {
      const random = after === undefined || replayMs === 0 ? ids.short() : shortOf(next(after));
      return `refresh_${familyId}_${random}_${markOf(familyId, random, clientId)}`;
    },
    familyOf(text, clientId) {
      const [kind, familyId = "", random = "", shown = "", ...more] = text.split("_");
      if (kind !== "refresh" || more.length > 0 || ![familyId, random, shown].every(isShort)) return null;
      return timingSafeEqual(Buffer.from(shown), Buffer.from(markOf(familyId, random, clientId))) ? familyId : null;
    },
  };
}

/** What is stored of a refresh token: it has 128 random bits, so a plain hash is enough. */
export const refreshDigest = (text: string): string => createHash("sha256").update(text).digest("hex");
