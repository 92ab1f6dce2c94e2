import type { ModelFault } from "./fault.ts";

/** So often one call is tried. */
export const attemptsMax = 6;
const firstMs = 1_000;
const longestMs = 30_000;
/** Nobody waits longer than this for an endpoint that asks for patience. */
const patienceMs = 300_000;

/**
 * How many milliseconds to wait after an attempt that came to nothing; null to give up. What the endpoint asks for is
 * kept to, up to five minutes; else the wait doubles from one second to 30, less up to half of it by chance, so that
 * many runs do not come back at once.
 *
 * @param attempt from 1.
 * @param chance from 0 to 1.
 */
export function waitAfter(
  attempt: number,
  { passes, retryAfterMs }: Pick<ModelFault, "passes" | "retryAfterMs">,
  chance: number,
): number | null {
  if (!passes || attempt >= attemptsMax) return null;
  if (retryAfterMs !== null) return retryAfterMs <= patienceMs ? retryAfterMs : null;
  const full = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
  return Math.round(full * (1 - chance / 2));
}
