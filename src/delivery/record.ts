import type { Tx } from "../core/store.ts";
import type { DueWebhook, FaringWebhook, Outcome } from "../core/webhooks/due.ts";
import { flawOf, healthAfter } from "./health.ts";

/** An outcome, and what it is of. */
export interface Landed extends Outcome {
  readonly eventId: string;
  readonly webhook: DueWebhook;
}

/** A webhook that has been switched off, for its owner to be told. */
export interface SwitchedOff extends Pick<FaringWebhook, "id" | "url" | "email"> {
  readonly reason: string;
}

/** Writes outcomes, as many as there are, in one change: the log, what becomes of the deliveries, and how the webhooks fare. */
export async function recordOutcomes(tx: Tx, landed: readonly Landed[], now: number): Promise<readonly SwitchedOff[]> {
  // The webhooks first, as whoever deletes one locks it first.
  const off = await recordHealth(tx, landed);
  await tx.deliveries.record(landed, now);
  await tx.webhookEvents.settled(landed.filter(({ next }) => next.state !== "pending").map(({ eventId }) => eventId));
  return off;
}

/** A success of a webhook that was well changes nothing, and locks nothing. */
async function recordHealth(tx: Tx, landed: readonly Landed[]): Promise<readonly SwitchedOff[]> {
  const telling = landed.filter(({ sent, webhook }) => !sent.delivered || webhook.failingSince !== null);
  const byWebhook = Map.groupBy(telling, ({ webhook }) => webhook.id);
  const off: SwitchedOff[] = [];
  for (const webhook of await tx.deliveries.lockFaring([...byWebhook.keys()])) {
    const reason = await fare(tx, webhook, byWebhook.get(webhook.id) ?? []);
    if (reason !== null) off.push({ id: webhook.id, url: webhook.url, email: webhook.email, reason });
  }
  return off;
}

/** Answers why the webhook is switched off now; null when it is not. */
async function fare(tx: Tx, webhook: FaringWebhook, landed: readonly Outcome[]): Promise<string | null> {
  let { failingSince, failures }: Pick<FaringWebhook, "failingSince" | "failures"> = webhook;
  let reason: string | null = null;
  for (const { sent } of landed.toSorted((a, b) => a.sent.at - b.sent.at)) {
    ({ failingSince, failures } = healthAfter({ failingSince, failures }, sent));
    reason ??= webhook.status === "active" ? flawOf({ failingSince, failures }, sent) : null;
  }
  const isAsBefore = failingSince === webhook.failingSince && failures === webhook.failures && reason === null;
  if (!isAsBefore) await tx.deliveries.setHealth(webhook.id, { failingSince, failures }, reason);
  return reason;
}
