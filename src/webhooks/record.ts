import type { Random } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import type {
  AttemptResult,
  DueWebhook,
  Health,
  NextState,
  Outcome,
  WebhookHealth,
} from "../core/webhooks/delivery.ts";
import type { WebhookEventType } from "../core/webhooks/webhook.ts";

const hourMs = 3_600_000;
/**
 * Two failures with a distance between these limits start the period of failures (spec/webhooks.md 8, like
 * Svix).
 */
const startsAfterMs = 12 * hourMs;
const startsWithinMs = 24 * hourMs;
/** A webhook with only failures for this long is switched off (spec/webhooks.md 9). */
const disablesAfterMs = 5 * 24 * hourMs;

export const healthyState: Health = { failingSince: null, failures: 0 };

/** The webhook's health after an attempt; `at` in Unix milliseconds. */
export function healthAfter(
  { failingSince, failures }: Health,
  { delivered, at }: Pick<AttemptResult, "delivered" | "at">,
): Health {
  if (delivered) return healthyState;
  const since = failingSince ?? at;
  const age = at - since;
  const isRunning = failures > 1;
  if (failingSince === null || (!isRunning && age > startsWithinMs)) return { failingSince: at, failures: 1 };
  return { failingSince: since, failures: age >= startsAfterMs ? failures + 1 : failures };
}

/** The reason to switch off a webhook after an attempt, as a text for people; null to leave it as it is. */
export function failureReasonOf(
  { failingSince, failures }: Health,
  sent: Pick<AttemptResult, "status" | "at">,
): string | null {
  if (isGone(sent)) return "the receiver answered 410 Gone";
  const isOver = failures > 1 && failingSince !== null && sent.at - failingSince >= disablesAfterMs;
  return isOver ? "every attempt of 5 days failed" : null;
}

export interface CompletedAttempt extends Outcome {
  readonly eventId: string;
  readonly webhook: DueWebhook;
}

/** A webhook that was switched off, for the mail to its owner. */
export interface SwitchedOff extends Pick<WebhookHealth, "id" | "url" | "email"> {
  readonly reason: string;
}

/** Writes outcomes in one change: the log, the states of the deliveries, and the health of the webhooks. */
export async function recordOutcomes(
  tx: Tx,
  completed: readonly CompletedAttempt[],
  now: number,
): Promise<readonly SwitchedOff[]> {
  // Lock order: webhooks first, because a change that deletes a webhook also locks it first.
  const off = await recordHealth(tx, completed);
  await tx.deliveries.record(completed, now);
  await tx.webhookEvents.deleteSettledBodies(
    completed.filter(({ next }) => next.state !== "pending").map(({ eventId }) => eventId),
  );
  return off;
}

/** A success of a healthy webhook changes nothing and takes no lock. */
async function recordHealth(tx: Tx, completed: readonly CompletedAttempt[]): Promise<readonly SwitchedOff[]> {
  const relevant = completed.filter(({ sent, webhook }) => !sent.delivered || webhook.failingSince !== null);
  const byWebhook = Map.groupBy(relevant, ({ webhook }) => webhook.id);
  const off: SwitchedOff[] = [];
  for (const webhook of await tx.deliveries.lockForHealth([...byWebhook.keys()])) {
    const reason = await updateHealth(tx, webhook, byWebhook.get(webhook.id) ?? []);
    if (reason !== null) off.push({ id: webhook.id, url: webhook.url, email: webhook.email, reason });
  }
  return off;
}

/** Returns the reason to switch off the webhook; null when it stays on. */
async function updateHealth(
  tx: Tx,
  webhook: WebhookHealth,
  completed: readonly Outcome[],
): Promise<string | null> {
  let { failingSince, failures }: Pick<WebhookHealth, "failingSince" | "failures"> = webhook;
  let reason: string | null = null;
  for (const { sent } of completed.toSorted((a, b) => a.sent.at - b.sent.at)) {
    ({ failingSince, failures } = healthAfter({ failingSince, failures }, sent));
    reason ??= webhook.status === "active" ? failureReasonOf({ failingSince, failures }, sent) : null;
  }
  const isUnchanged =
    failingSince === webhook.failingSince && failures === webhook.failures && reason === null;
  if (!isUnchanged) await tx.deliveries.setHealth(webhook.id, { failingSince, failures }, reason);
  return reason;
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** The delay before each attempt, after the previous one (spec/webhooks.md 9). */
export const scheduleMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];
/** Progress events have few attempts, because later events replace them. */
const progressAttemptsMax = 3;
/** The largest random deviation of a delay, as a fraction. */
const jitter = 0.2;
const retryAfterMaxMs = 24 * hourMs;
const gone = 410;

export interface Attempt {
  readonly type: WebhookEventType;
  /** From 1. */
  readonly number: number;
  readonly sent: Pick<AttemptResult, "delivered" | "status" | "retryAfter">;
}

/**
 * The state after an attempt: delivered, pending for another attempt, or failed.
 *
 * @param now when the attempt ended.
 * @param random from 0 up to 1.
 */
export function nextStateOf(
  { type, number, sent }: Attempt,
  now: number,
  random: number,
  delaysMs = scheduleMs,
): NextState {
  if (sent.delivered) return { state: "delivered", nextAt: null };
  const delay = delaysMs[number];
  const isLast = delay === undefined || (type === "task_progress" && number >= progressAttemptsMax);
  if (isLast || isGone(sent)) return { state: "failed", nextAt: null };
  const wait = Math.round(delay * (1 - jitter + 2 * jitter * random));
  return { state: "pending", nextAt: now + Math.max(wait, retryAfterMs(sent.retryAfter, now)) };
}

/** From 0 up to 1. */
export const randomFraction = (random: Random): number => Buffer.from(random(4)).readUInt32BE() / 2 ** 32;

/** The address no longer exists: the webhook must be switched off (spec/webhooks.md 7). */
const isGone = ({ status }: Pick<AttemptResult, "status">): boolean => status === gone;

/** Integer seconds or an HTTP date (RFC 9110 10.2.3), at most one day; 0 for other values. */
function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * secondMs : httpDate.test(text) ? Date.parse(text) - now : 0;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMaxMs);
}

/**
 * The current HTTP date form and the two obsolete ones: each begins with the name of a day. `Date.parse`
 * accepts many other forms.
 */
const httpDate = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? .*\d\d:\d\d:\d\d/;
