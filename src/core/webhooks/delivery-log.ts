import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { byCreation, type CursorBinding, decodeCursor, type Page, pageOf } from "../pagination/page.ts";
import { dayMs, purgingInBatches } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import type { Delivery, DeliveryAttempt, DeliveryState } from "./delivery.ts";
import type { Webhook, WebhookEventType, WebhookReach } from "./webhook.ts";
import { requireWebhook, webhookReach } from "./webhooks.ts";

export interface DeliveryLogEntry extends Delivery {
  /** The JSON that is sent; null when it is no longer kept. */
  readonly body: string | null;
  /** HTTP status of the last attempt; null without an answer. */
  readonly lastStatus: number | null;
}

/** A filter of a webhook's deliveries; all conditions must hold. Times are Unix milliseconds, exclusive. */
export interface DeliveryFilter {
  readonly type?: WebhookEventType;
  readonly state?: DeliveryState;
  readonly taskId?: string;
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** A page, newest first; it begins after this delivery. */
export interface DeliveryPage {
  readonly limit: number;
  readonly after?: { createdAt: number; id: string };
}

export type DeliveryTally = Readonly<Record<DeliveryState, number>>;

/** Deliveries and attempts for people to read. The caller checks access by the webhook. */
export interface DeliveryLogRows {
  list(webhookId: string, filter: DeliveryFilter, page: DeliveryPage): Promise<DeliveryLogEntry[]>;
  listOfTask(
    reach: WebhookReach,
    filter: DeliveryFilter & { taskId: string },
    page: DeliveryPage,
  ): Promise<DeliveryLogEntry[]>;
  find(id: string): Promise<DeliveryLogEntry | null>;
  /** How the newest deliveries of events since a time ended, at most `max` of them. */
  tally(webhookId: string, since: number, max: number): Promise<DeliveryTally>;
  /** In order. */
  attempts(deliveryId: string): Promise<DeliveryAttempt[]>;
  /** Makes a delivery pending and due; false when its body is no longer kept. */
  resend(id: string, now: number): Promise<boolean>;
  /**
   * The same for all of a webhook's deliveries of events since a time that failed or wait for their next
   * attempt; returns how many.
   */
  recover(webhookId: string, since: number, now: number): Promise<number>;
  /**
   * Deletes settled deliveries of events older than this, with their attempts; returns how many, at most
   * `max`.
   */
  purge(before: number, max: number): Promise<number>;
  /** Deletes events older than this that have no delivery; returns how many, at most `max`. */
  purgeEvents(before: number, max: number): Promise<number>;
}

/** The requested page; an empty cursor means none. */
export interface DeliveriesInput {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * The deliveries of webhooks that the caller may change. Only the creator of an app's
 * webhook sees request bodies and responses (spec/decisions.md 43).
 */
export interface Deliveries {
  /**
   * The deliveries of a webhook, or those of the filter's task to all webhooks in reach; newest first.
   *
   * @param webhookId empty for all webhooks.
   * @throws Failure `not_found`, or `invalid_argument` for a cursor of another list and without webhook and
   * task.
   */
  list(
    tx: Tx,
    caller: Caller,
    webhookId: string,
    filter: DeliveryFilter,
    input: DeliveriesInput,
  ): Promise<Page<DeliveryLogEntry>>;
  /**
   * The outcome of at most 1,000 deliveries of the last 7 days, and since when every attempt has failed.
   * @throws Failure `not_found`
   */
  health(tx: Tx, caller: Caller, webhookId: string): Promise<DeliveryTally & Pick<Webhook, "failingSince">>;
  /** @throws Failure `not_found` */
  attempts(tx: Tx, caller: Caller, id: string): Promise<readonly DeliveryAttempt[]>;
  /**
   * Makes a delivery due again, at once. @throws Failure `not_found`, or `failed_precondition` while the
   * webhook is inactive or when the body is no longer kept.
   */
  resend(tx: Tx, caller: Caller, id: string): Promise<DeliveryLogEntry>;
  /**
   * Makes all failed deliveries of events since a time (Unix milliseconds) due again; returns how many.
   *
   * @throws Failure `not_found`, or `failed_precondition` while the webhook is inactive.
   */
  recover(tx: Tx, caller: Caller, webhookId: string, since: number): Promise<number>;
}

/** The deliveries that a webhook's health counts. */
const talliedMs = 7 * 24 * 3_600_000;
const talliedMax = 1_000;

export function deliveries(clock: Pick<Clock, "now">): Deliveries {
  return {
    async list(tx, caller, webhookId, filter, { limit, cursor }) {
      const read = await pagesOf(tx, caller, webhookId, filter);
      const binding = bindingOf(caller, webhookId, filter);
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const from = after ? { after: { createdAt: after.value, id: after.id } } : {};
      const rows = await read({ limit: limit + 1, ...from });
      const { items, next } = pageOf(rows, limit, binding, byCreation);
      return { items: await Promise.all(items.map(hiddenBodies(tx, caller))), next };
    },

    async health(tx, caller, webhookId) {
      const { failingSince } = requireWebhook(await tx.webhooks.find(webhookReach(caller), webhookId));
      return {
        ...(await tx.deliveryLog.tally(webhookId, clock.now() - talliedMs, talliedMax)),
        failingSince,
      };
    },

    async attempts(tx, caller, id) {
      const { webhook } = await findDelivery(tx, caller, id);
      const attempts = await tx.deliveryLog.attempts(id);
      return mayReadBodies(webhook, caller)
        ? attempts
        : attempts.map((attempt) => ({ ...attempt, response: null }));
    },

    async resend(tx, caller, id) {
      const { delivery } = await findDelivery(tx, caller, id);
      const webhook = await lockActive(tx, caller, delivery.webhookId);
      const now = clock.now();
      if (!(await tx.deliveryLog.resend(id, now)))
        throw new Failure("failed_precondition", "the delivery's body is no longer kept");
      await tx.jobs.put({ kind: "deliver", key: webhook.id, runAt: now });
      tx.audit.note({ subject: id, before: { state: delivery.state } });
      return hideBody({ ...delivery, state: "pending", nextAt: now, settledAt: null }, webhook, caller);
    },

    async recover(tx, caller, webhookId, since) {
      await lockActive(tx, caller, webhookId);
      const now = clock.now();
      const recovered = await tx.deliveryLog.recover(webhookId, since, now);
      if (recovered > 0) await tx.jobs.put({ kind: "deliver", key: webhookId, runAt: now });
      tx.audit.note({ subject: webhookId, after: { since, recovered } });
      return recovered;
    },
  };
}

/** Returns the reader of pages. @throws Failure as `list`. */
async function pagesOf(
  tx: Tx,
  caller: Caller,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<(page: DeliveryPage) => Promise<DeliveryLogEntry[]>> {
  const reach = webhookReach(caller);
  const { taskId } = filter;
  if (webhookId === "") {
    if (taskId === undefined) throw invalidArgument("webhook_id", "is required without task_id");
    return (page) => tx.deliveryLog.listOfTask(reach, { ...filter, taskId }, page);
  }
  requireWebhook(await tx.webhooks.find(reach, webhookId));
  return (page) => tx.deliveryLog.list(webhookId, filter, page);
}

/** Hides the bodies that the caller may not read. Each webhook is read once. */
function hiddenBodies(tx: Tx, caller: Caller): (delivery: DeliveryLogEntry) => Promise<DeliveryLogEntry> {
  const webhooks = new Map<string, Promise<Webhook | null>>();
  return async (delivery) => {
    const { webhookId } = delivery;
    const found = webhooks.get(webhookId) ?? tx.webhooks.find(webhookReach(caller), webhookId);
    webhooks.set(webhookId, found);
    const webhook = await found;
    return webhook === null ? { ...delivery, body: null } : hideBody(delivery, webhook, caller);
  };
}

/** A delivery of another account's webhook is reported as not found. @throws Failure `not_found` */
async function findDelivery(
  tx: Tx,
  caller: Caller,
  id: string,
): Promise<{ delivery: DeliveryLogEntry; webhook: Webhook }> {
  const delivery = await tx.deliveryLog.find(id);
  const webhook = delivery && (await tx.webhooks.find(webhookReach(caller), delivery.webhookId));
  if (delivery === null || webhook === null) throw notFound("delivery");
  return { delivery, webhook };
}

/**
 * Locks the webhook, so that no delivery becomes pending while it is paused or deleted. @throws Failure
 * `not_found` or `failed_precondition`.
 */
async function lockActive(tx: Tx, caller: Caller, webhookId: string): Promise<Webhook> {
  const webhook = requireWebhook(await tx.webhooks.lock(webhookReach(caller), webhookId));
  if (webhook.status !== "active")
    throw new Failure("failed_precondition", "the webhook is inactive: webhook.update resumes it");
  return webhook;
}

const mayReadBodies = ({ clientId, accountId }: Webhook, caller: Caller): boolean =>
  clientId === null || accountId === caller.accountId;

const hideBody = (delivery: DeliveryLogEntry, webhook: Webhook, caller: Caller): DeliveryLogEntry =>
  mayReadBodies(webhook, caller) ? delivery : { ...delivery, body: null };

const bindingOf = (
  { accountId, spaceId }: Caller,
  webhookId: string,
  filter: DeliveryFilter,
): CursorBinding => ({
  accountId,
  spaceId,
  operation: "webhook.deliveries",
  filter: { webhookId, ...filter },
});

export const purgeDeliveries = purgingInBatches("purge-deliveries", 500, (tx, now, max, { webhookLogDays }) =>
  tx.deliveryLog.purge(now - webhookLogDays * dayMs, max),
);

export const purgeWebhookEvents = purgingInBatches(
  "purge-webhook-events",
  500,
  (tx, now, max, { webhookLogDays }) => tx.deliveryLog.purgeEvents(now - webhookLogDays * dayMs, max),
);
