import type { NextState } from "../core/webhooks/due.ts";
import type { Sent } from "../core/webhooks/send.ts";
import type { WebhookEventType } from "../core/webhooks/webhook.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** What passes before each attempt, from the one before it (contract/webhooks.md 9). */
export const scheduleMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];
/** Of little value: what comes after it says more. */
const progressAttemptsMax = 3;
/** Either way, of a waiting time. */
const jitter = 0.2;
const retryAfterMaxMs = 24 * hourMs;
const gone = 410;

/** An attempt that was made. */
export interface Attempt {
  readonly type: WebhookEventType;
  /** From 1. */
  readonly number: number;
  readonly sent: Pick<Sent, "delivered" | "status" | "retryAfter">;
}

/**
 * Delivered, to be tried again, or given up.
 *
 * @param now when the attempt ended.
 * @param dice from 0 up to 1.
 */
export function nextOf({ type, number, sent }: Attempt, now: number, dice: number, delaysMs = scheduleMs): NextState {
  if (sent.delivered) return { state: "delivered", nextAt: null };
  const delay = delaysMs[number];
  const isLast = delay === undefined || (type === "task_progress" && number >= progressAttemptsMax);
  if (isLast || isGone(sent)) return { state: "failed", nextAt: null };
  const wait = Math.round(delay * (1 - jitter + 2 * jitter * dice));
  return { state: "pending", nextAt: now + Math.max(wait, retryAfterMs(sent.retryAfter, now)) };
}

/** Nobody lives there any more: the webhook is to be switched off (contract/webhooks.md 7). */
export const isGone = ({ status }: Pick<Sent, "status">): boolean => status === gone;

/** Whole seconds or an HTTP date (RFC 9110 10.2.3); 0 for neither, a day at most. */
function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * secondMs : dateForm.test(text) ? Date.parse(text) - now : 0;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), retryAfterMaxMs);
}

/** The one form that is sent, and the two old ones: each begins with a day's name. `Date.parse` takes much else. */
const dateForm = /^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? .*\d\d:\d\d:\d\d/;
