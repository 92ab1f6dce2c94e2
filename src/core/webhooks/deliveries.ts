import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../page.ts";
import type { Tx } from "../store.ts";
import type { Page } from "../tasks/listings.ts";
import type { DeliveryAttempt } from "./delivery.ts";
import type { DeliveryFilter, LoggedDelivery } from "./delivery-log.ts";
import type { Webhook } from "./webhook.ts";
import { found, reachOf } from "./webhooks.ts";

/** A page as a caller asks for it; an empty cursor is none. */
export interface WantedDeliveries {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/**
 * What was told to the webhooks that the caller may change, and how it went. Of an app's
 * webhook only its creator sees what was said on either side (contract/decisions.md 43).
 */
export interface Deliveries {
  /** Newest first. @throws Failure `absent`, or `invalid` for a cursor of another list. */
  list(tx: Tx, caller: Caller, webhookId: string, filter: DeliveryFilter, wanted: WantedDeliveries): Promise<Page<LoggedDelivery>>;
  /** @throws Failure `absent` */
  attempts(tx: Tx, caller: Caller, id: string): Promise<readonly DeliveryAttempt[]>;
  /** Once more, at once. @throws Failure `absent`, or `precondition` while the webhook is inactive or when the body is gone. */
  resend(tx: Tx, caller: Caller, id: string): Promise<LoggedDelivery>;
  /**
   * All once more that failed, of events since a time (Unix milliseconds); answers how many.
   *
   * @throws Failure `absent`, or `precondition` while the webhook is inactive.
   */
  recover(tx: Tx, caller: Caller, webhookId: string, since: number): Promise<number>;
}

export function deliveries(clock: Pick<Clock, "now">): Deliveries {
  return {
    async list(tx, caller, webhookId, filter, { limit, cursor }) {
      const webhook = found(await tx.webhooks.find(reachOf(caller), webhookId));
      const binding = bindingOf(caller, webhookId, filter);
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const from = after ? { after: { createdAt: after.value, id: after.id } } : {};
      const rows = await tx.deliveryLog.list(webhookId, filter, { limit: limit + 1, ...from });
      const items = rows.slice(0, limit).map((delivery) => shown(delivery, webhook, caller));
      const last = items.at(-1);
      return { items, next: rows.length > limit && last ? encodeCursor(binding, { value: last.createdAt, id: last.id }) : undefined };
    },

    async attempts(tx, caller, id) {
      const { webhook } = await lookUp(tx, caller, id);
      const attempts = await tx.deliveryLog.attempts(id);
      return readsBodies(webhook, caller) ? attempts : attempts.map((attempt) => ({ ...attempt, response: null }));
    },

    async resend(tx, caller, id) {
      const { delivery } = await lookUp(tx, caller, id);
      const webhook = await lockActive(tx, caller, delivery.webhookId);
      const now = clock.now();
      if (!(await tx.deliveryLog.resend(id, now))) throw new Failure("precondition", "the delivery's body is kept no longer");
      await tx.jobs.put({ kind: "deliver", key: webhook.id, runAt: now });
      tx.audit.note({ subject: id, before: { state: delivery.state } });
      return shown({ ...delivery, state: "pending", nextAt: now, settledAt: null }, webhook, caller);
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

/** Of a webhook that is not the caller's, a delivery is as absent as none. @throws Failure `absent` */
async function lookUp(tx: Tx, caller: Caller, id: string): Promise<{ readonly delivery: LoggedDelivery; readonly webhook: Webhook }> {
  const delivery = await tx.deliveryLog.find(id);
  const webhook = delivery && (await tx.webhooks.find(reachOf(caller), delivery.webhookId));
  if (delivery === null || webhook === null) throw absent("delivery");
  return { delivery, webhook };
}

/** With a lock: nothing becomes pending of a webhook that is paused or deleted meanwhile. @throws Failure `absent` or `precondition`. */
async function lockActive(tx: Tx, caller: Caller, webhookId: string): Promise<Webhook> {
  const webhook = found(await tx.webhooks.lock(reachOf(caller), webhookId));
  if (webhook.status !== "active") throw new Failure("precondition", "the webhook is inactive: webhook.update resumes it");
  return webhook;
}

const readsBodies = ({ clientId, accountId }: Webhook, caller: Caller): boolean => clientId === null || accountId === caller.accountId;

const shown = (delivery: LoggedDelivery, webhook: Webhook, caller: Caller): LoggedDelivery =>
  readsBodies(webhook, caller) ? delivery : { ...delivery, body: null };

const bindingOf = ({ accountId, spaceId }: Caller, webhookId: string, filter: DeliveryFilter): CursorBinding => ({
  ...{ accountId, spaceId },
  operation: "webhook.deliveries",
  filter: { webhookId, ...filter },
});
