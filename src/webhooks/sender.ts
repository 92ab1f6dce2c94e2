import { type Dispatcher, type DispatchSignals, type Places, startDispatcher } from "../async/dispatcher.ts";
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { type Observe, unobserved } from "../core/observe.ts";
import type { Repeats } from "../core/repeats.ts";
import { attributes, deliverySpan } from "../core/span-names.ts";
import type { Store } from "../core/store.ts";
import { endAfter, type Span, storedParent, type Tracing, untraced } from "../core/trace.ts";
import type {
  AttemptKey,
  AttemptResult,
  DueDelivery,
  DueWebhook,
  SendWebhook,
} from "../core/webhooks/delivery.ts";
import { answerMs } from "./post.ts";
import {
  type CompletedAttempt,
  nextStateOf,
  randomFraction,
  recordOutcomes,
  type SwitchedOff,
  scheduleMs,
} from "./record.ts";

/** Whether a due delivery must still be sent; `now` in Unix milliseconds. */
function isSendable(delivery: DueDelivery, now: number): boolean {
  const { webhook, event, mayReceive } = delivery;
  // The event of a deleted task has no body (spec/decisions.md 14).
  return webhook !== null && event.body !== "" && mayReceive && !isStale(delivery, now);
}

/**
 * Progress events of a stopped task are dropped (spec/webhooks.md 9). An event younger than the time limit of
 * a request still gets its one attempt: otherwise a short task would never send progress.
 */
const isStale = ({ type, isTaskStopped, attempts, createdAt }: DueDelivery, now: number): boolean =>
  type === "task_progress" && isTaskStopped && (attempts > 0 || now - createdAt > answerMs);

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

const everyMs = 1_000;
/** Longer than an attempt may take. After it, the process counts as dead and the delivery is due again. */
const leaseMs = 20_000;
/** The maximum number of concurrent attempts, in this process and per webhook. */
const limits = { max: 500, perHolder: 5 };
/** The maximum number of deliveries claimed in one change. */
const batchMax = 32;

/**
 * Sends due deliveries. Each round records the completed attempts and claims the next deliveries in one
 * change, so that commits are shared under load. An attempt is counted when it is claimed. If this process
 * dies, the delivery is due again when the lease ends.
 */
export function startSender(parts: SenderParts): Dispatcher {
  const { store, clock, log, observe = unobserved, tracing = untraced, warnings } = parts;

  async function round(places: Places, outcomes: readonly Outcome[]) {
    const due = await findDue(places);
    if (due.length + outcomes.length === 0) return { taken: [], more: false };
    const completed = outcomes.flatMap((outcome) => ("sent" in outcome ? [outcome] : []));
    const aborted = outcomes.flatMap((outcome) => ("sent" in outcome ? [] : [outcome]));
    const { taken, off, cancelled } = await write(due, { completed, aborted });
    observeRound(completed, off.length, cancelled);
    for (const webhook of off) {
      log("warn", "a webhook was switched off: its deliveries failed", { webhookId: webhook.id });
      void notifyOwner(webhook);
    }
    return { taken: taken.flatMap((key) => attemptOf(due, key)), more: taken.length + completed.length > 0 };
  }

  /** The due deliveries, up to the limits. */
  async function findDue({ free, full, fitting }: Places): Promise<readonly DueDelivery[]> {
    if (free <= 0) return [];
    const due = await store.deliveries.due(clock.now(), {
      max: Math.min(batchMax, free),
      perWebhook: limits.perHolder,
      full,
    });
    return fitting(due, ({ webhookId }) => webhookId);
  }

  function write(
    due: readonly DueDelivery[],
    finished: { completed: readonly CompletedAttempt[]; aborted: readonly AttemptKey[] },
  ) {
    const now = clock.now();
    const [sendable, obsolete] = [
      due.filter((one) => isSendable(one, now)),
      due.filter((one) => !isSendable(one, now)),
    ];
    return store.change(async (tx) => {
      const off = await recordOutcomes(tx, finished.completed, now);
      await tx.deliveries.release(finished.aborted, now);
      await tx.deliveries.cancel(obsolete.map(idOf), now);
      await tx.webhookEvents.deleteSettledBodies(obsolete.map(({ event }) => event.id));
      return {
        off,
        cancelled: obsolete.length,
        taken: await tx.deliveries.take(sendable.map(idOf), now, now + leaseMs),
      };
    });
  }

  function observeRound(done: readonly CompletedAttempt[], off: number, cancelled: number): void {
    for (const { sent, next } of done)
      observe.attempted(next.state === "pending" ? "retried" : next.state, sent.latencyMs / 1000);
    for (let count = 0; count < cancelled; count += 1) observe.attempted("cancelled", null);
    observe.webhooksDisabled(off);
  }

  async function attempt(
    { delivery, webhook, key }: Attempt,
    { aborting }: DispatchSignals,
  ): Promise<Outcome | undefined> {
    const { type, event, traceparent } = delivery;
    const span = tracing.begin(deliverySpan({ ...delivery, ...key }), storedParent(traceparent));
    try {
      const sent = await endAfter(span, () => sendIn(span, webhook, event, aborting));
      const next = nextStateOf(
        { type, number: key.number, sent },
        clock.now(),
        randomFraction(parts.random),
        parts.delaysMs ?? scheduleMs,
      );
      const { status, latencyMs } = sent;
      log("debug", "delivery attempt", {
        deliveryId: key.deliveryId,
        number: key.number,
        state: next.state,
        status,
        latencyMs,
      });
      return { ...key, eventId: event.id, sent, next, webhook };
    } catch (cause) {
      if (aborting.aborted) return key;
      // An internal error, not the receiver's: the delivery is due again when the lease ends.
      log("error", "a delivery could not be sent", { deliveryId: key.deliveryId, cause });
      return undefined;
    }
  }

  async function sendIn(
    span: Span | null,
    webhook: DueWebhook,
    event: DueDelivery["event"],
    aborting: AbortSignal,
  ): Promise<AttemptResult> {
    const sent = await parts.send(webhook, event, aborting);
    const { status, failure, delivered } = sent;
    span?.set(attributes({ status: status ?? undefined }));
    if (!delivered) span?.fail(failure ?? String(status));
    warnOf(webhook.id, sent);
    return sent;
  }

  function warnOf(webhookId: string, { status, failure, delivered }: AttemptResult): void {
    const key = `webhook ${webhookId}`;
    if (delivered) warnings?.over(key);
    else
      warnings?.again(key, {
        level: "warn",
        text: "deliveries to a webhook fail",
        fields: { webhookId, status, failure },
      });
  }

  const notifyOwner = (off: SwitchedOff) =>
    parts
      .notify(off)
      .catch((cause: unknown) =>
        log("error", "the owner of a webhook was not notified", { webhookId: off.id, cause }),
      );

  return startDispatcher({
    clock,
    log,
    name: "deliveries",
    everyMs,
    limits,
    holderOf: ({ webhook }) => webhook.id,
    round,
    attempt,
  });
}

/** A claimed delivery. */
interface Attempt {
  readonly delivery: DueDelivery;
  readonly webhook: DueWebhook;
  readonly key: AttemptKey;
}

/** A completed attempt, or the key of one that was aborted. */
type Outcome = CompletedAttempt | AttemptKey;

function attemptOf(due: readonly DueDelivery[], key: AttemptKey): readonly Attempt[] {
  const delivery = due.find(({ id }) => id === key.deliveryId);
  return delivery?.webhook ? [{ delivery, webhook: delivery.webhook, key }] : [];
}

const idOf = ({ id }: DueDelivery): string => id;
