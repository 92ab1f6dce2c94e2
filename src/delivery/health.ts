import type { Health } from "../core/webhooks/due.ts";
import type { Sent } from "../core/webhooks/send.ts";
import { isGone } from "./schedule.ts";

const hourMs = 3_600_000;
/** Two failures so far apart, and no further than the next, start the clock (contract/webhooks.md 8, as Svix has it). */
const startsAfterMs = 12 * hourMs;
const startsWithinMs = 24 * hourMs;
/** Nothing but failures for so long switches a webhook off (contract/webhooks.md 9). */
const disablesAfterMs = 5 * 24 * hourMs;

export const healthy: Health = { failingSince: null, failures: 0 };

/** How it fares after one more attempt; `at` in Unix milliseconds. */
export function healthAfter({ failingSince, failures }: Health, { delivered, at }: Pick<Sent, "delivered" | "at">): Health {
  if (delivered) return healthy;
  const since = failingSince ?? at;
  const age = at - since;
  const isRunning = failures > 1;
  if (failingSince === null || (!isRunning && age > startsWithinMs)) return { failingSince: at, failures: 1 };
  return { failingSince: since, failures: age >= startsAfterMs ? failures + 1 : failures };
}

/** Why a webhook is switched off after an attempt, for people; null for one that stays as it is. */
export function flawOf({ failingSince, failures }: Health, sent: Pick<Sent, "status" | "at">): string | null {
  if (isGone(sent)) return "the receiver answered 410 Gone";
  const isOver = failures > 1 && failingSince !== null && sent.at - failingSince >= disablesAfterMs;
  return isOver ? "every attempt of 5 days failed" : null;
}
