import { coalesce } from "../async/coalesce.ts";
import { createInFlight, drain } from "../async/dispatcher.ts";
import { poll } from "../async/poll.ts";
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type Observe, unobserved } from "../core/observe.ts";
import type { Repeats } from "../core/repeats.ts";
import { attributes, deliverySpan } from "../core/span-names.ts";
import type { Store } from "../core/store.ts";
import { endAfter, type Span, storedParent, type Tracing, untraced } from "../core/trace.ts";
import type { AttemptKey, AttemptResult, DueDelivery, DueWebhook, SendWebhook } from "../core/webhooks/delivery.ts";
import { answerMs } from "./post.ts";
import { type CompletedAttempt, nextStateOf, randomFraction, recordOutcomes, type SwitchedOff, scheduleMs } from "./record.ts";

/** Whether a due delivery must still be sent; `now` in Unix milliseconds. */
function isSendable(delivery: DueDelivery, now: number): boolean {
  const { webhook, event, mayReceive } = delivery;
  // The event of a deleted task has no body (spec/decisions.md 14).
  return webhook !== null && event.body !== "" && mayReceive && !isStale(delivery, now);
}

/**
 * Progress events of a stopped task are dropped (spec/webhooks.md 9). An event younger than the time limit of a request
 * still gets its one attempt: otherwise a short task would never send progress.
 */
const isStale = ({ type, isTaskStopped, attempts, createdAt }: DueDelivery, now: number): boolean =>
  type === "task_progress" && isTaskStopped && (attempts > 0 || now - createdAt > answerMs);

/** Sends deliveries in this process. */
export interface Sender {
  /** Looks for due deliveries. This also happens every second without a call. */
  wake(): void;
  hasCapacity(): boolean;
  /** Starts no more attempts. Those in progress end, or are released after `ms`. Resolves when all outcomes are recorded. */
  drain(ms: number): Promise<void>;
}

export interface SenderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observe?: Observe;
  /** Begins the span of each attempt. */
  readonly tracing?: Tracing;
  /** Receives webhooks whose deliveries fail. */
  readonly warnings?: Pick<Repeats, "again" | "over">;
  readonly send: SendWebhook;
  /** Notifies the owner of a webhook that it was switched off. Its errors are logged. */
  readonly notify: (off: SwitchedOff) => Promise<void>;
  /** The delays before each attempt, for tests. */
  readonly delaysMs?: readonly number[];
}

const lookMs = 1_000;
/** Longer than an attempt may take. After it, the process counts as dead and the delivery is due again. */
const leaseMs = 20_000;
/** The maximum number of concurrent attempts, in this process and per webhook. */
const limits = { max: 500, perHolder: 5 };
/** The maximum number of deliveries claimed in one change. */
const batchMax = 32;

/**
 * Sends due deliveries. Each round records the completed attempts and claims the next deliveries in one change, so that
 * commits are shared under load. An attempt is counted when it is claimed. If this process dies, the delivery is due
 * again when the lease ends.
 */
export function startSender(parts: SenderParts): Sender {
  const { store, clock, log, observe = unobserved, tracing = untraced, warnings } = parts;
  const stopping = new AbortController();
  const aborting = new AbortController();
  const inFlight = createInFlight(limits);
  let completed: CompletedAttempt[] = [];
  let aborted: AttemptKey[] = [];
  /** A failed round is retried by the next search. */
  const nextRound = coalesce(() => round().catch((cause: unknown) => log("error", "deliveries were not taken", { cause })));
  const wake = (): void => void nextRound();

  async function round(): Promise<void> {
    const due = await findDue();
    const finished = { completed, aborted };
    if (due.length + completed.length + aborted.length === 0) return;
    [completed, aborted] = [[], []];
    try {
      const { taken, off, cancelled } = await write(due, finished);
      observeRound(finished.completed, off.length, cancelled);
      for (const key of taken) launch(due, key);
      for (const webhook of off) {
        log("warn", "a webhook was switched off: its deliveries failed", { webhookId: webhook.id });
        void notifyOwner(webhook);
      }
      if (taken.length + finished.completed.length > 0) wake();
    } catch (thrown) {
      completed = [...finished.completed, ...completed];
      aborted = [...finished.aborted, ...aborted];
      throw thrown;
    }
  }

  /** The due deliveries, up to the limits. */
  async function findDue(): Promise<readonly DueDelivery[]> {
    const max = Math.min(batchMax, inFlight.free);
    if (stopping.signal.aborted || max <= 0) return [];
    const due = await store.deliveries.due(clock.now(), { max, perWebhook: limits.perHolder, full: inFlight.full() });
    return inFlight.fitting(due, ({ webhookId }) => webhookId);
  }

  function write(
    due: readonly DueDelivery[],
    finished: { readonly completed: readonly CompletedAttempt[]; readonly aborted: readonly AttemptKey[] },
  ) {
    const now = clock.now();
    const [sendable, obsolete] = [due.filter((one) => isSendable(one, now)), due.filter((one) => !isSendable(one, now))];
    return store.change(async (tx) => {
      const off = await recordOutcomes(tx, finished.completed, now);
      await tx.deliveries.release(finished.aborted, now);
      await tx.deliveries.cancel(obsolete.map(idOf), now);
      await tx.webhookEvents.deleteSettledBodies(obsolete.map(({ event }) => event.id));
      return { off, cancelled: obsolete.length, taken: await tx.deliveries.take(sendable.map(idOf), now, now + leaseMs) };
    });
  }

  function observeRound(done: readonly CompletedAttempt[], off: number, cancelled: number): void {
    for (const { sent, next } of done) observe.attempted(next.state === "pending" ? "retried" : next.state, sent.latencyMs / 1000);
    for (let count = 0; count < cancelled; count += 1) observe.attempted("cancelled", null);
    observe.webhooksDisabled(off);
  }

  function launch(due: readonly DueDelivery[], key: AttemptKey): void {
    const delivery = due.find(({ id }) => id === key.deliveryId);
    if (delivery?.webhook) inFlight.add(delivery.webhookId, attempt(delivery, delivery.webhook, key), wake);
  }

  async function attempt(delivery: DueDelivery, webhook: DueWebhook, key: AttemptKey): Promise<void> {
    const { type, event, traceparent } = delivery;
    const span = tracing.begin(deliverySpan({ ...delivery, ...key }), storedParent(traceparent));
    try {
      const sent = await endAfter(span, () => sendIn(span, webhook, event));
      const next = nextStateOf({ type, number: key.number, sent }, clock.now(), randomFraction(parts.random), parts.delaysMs ?? scheduleMs);
      completed.push({ ...key, eventId: event.id, sent, next, webhook });
      const { status, latencyMs } = sent;
      log("debug", "delivery attempt", { deliveryId: key.deliveryId, number: key.number, state: next.state, status, latencyMs });
    } catch (cause) {
      if (aborting.signal.aborted) aborted.push(key);
      // An internal error, not the receiver's: the delivery is due again when the lease ends.
      else log("error", "a delivery could not be sent", { deliveryId: key.deliveryId, cause });
    }
  }

  async function sendIn(span: Span | null, webhook: DueWebhook, event: DueDelivery["event"]): Promise<AttemptResult> {
    const sent = await parts.send(webhook, event, aborting.signal);
    const { status, failure, delivered } = sent;
    span?.set(attributes({ status: status ?? undefined }));
    if (!delivered) span?.fail(failure ?? String(status));
    warnOf(webhook.id, sent);
    return sent;
  }

  function warnOf(webhookId: string, { status, failure, delivered }: AttemptResult): void {
    const key = `webhook ${webhookId}`;
    if (delivered) warnings?.over(key);
    else warnings?.again(key, { level: "warn", text: "deliveries to a webhook fail", fields: { webhookId, status, failure } });
  }

  const notifyOwner = (off: SwitchedOff) =>
    parts.notify(off).catch((cause: unknown) => log("error", "the owner of a webhook was not notified", { webhookId: off.id, cause }));

  const looks = poll(clock, lookMs, stopping.signal, log, async function lookForDeliveries() {
    wake();
  });

  return {
    wake,
    hasCapacity: () => inFlight.free > 0,
    async drain(ms) {
      await drain({ clock, stopping, aborting, inFlight, nextRound, looks }, ms);
      await nextRound();
      await round().catch((cause: unknown) => log("error", "the last deliveries were not recorded", { cause }));
    },
  };
}

const idOf = ({ id }: DueDelivery): string => id;
