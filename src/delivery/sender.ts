import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import { repeat } from "../core/repeat.ts";
import type { Store } from "../core/store.ts";
import type { AttemptKey, DueDelivery, DueWebhook } from "../core/webhooks/due.ts";
import type { SendWebhook } from "../core/webhooks/send.ts";
import { flights } from "./flights.ts";
import { type Landed, recordOutcomes, type SwitchedOff } from "./record.ts";
import { nextOf, scheduleMs } from "./schedule.ts";
import { isWanted } from "./wanted.ts";

/** Deliveries to webhooks by this process. */
export interface Sender {
  /** Looks for what is due: after a wake-up, and by itself every second. */
  wake(): void;
  hasRoom(): boolean;
  /** Begins no more attempts; those under way end, or after `ms` are given back. Resolves when all is recorded. */
  drain(ms: number): Promise<void>;
}

/** What a sender works with. */
export interface SenderParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly send: SendWebhook;
  /** Tells the owner of a webhook that it was switched off; what it throws is logged. */
  readonly notify: (off: SwitchedOff) => Promise<void>;
  /** What passes before each attempt; a test's own. */
  readonly delaysMs?: readonly number[];
}

const lookMs = 1_000;
/** Longer than an attempt may take: then its process is dead, and the delivery due again. */
const leaseMs = 20_000;
/** Attempts at once, in this process. */
const flightsMax = 500;
const perWebhook = 5;
/** Deliveries taken in one change. */
const batchMax = 32;

/**
 * Makes the deliveries that are due. Each round records what has come back and takes what goes out in one change, so that
 * the more there is to do, the more of it shares a commit. An attempt is counted when it is taken; whatever becomes of
 * this process, the delivery is due again when the lease ends.
 */
export function startSender(parts: SenderParts): Sender {
  const { store, clock, log } = parts;
  const stopping = new AbortController();
  const cutting = new AbortController();
  const flying = flights(perWebhook);
  let landed: Landed[] = [];
  let cut: AttemptKey[] = [];
  let hasNews = false;
  let isTurning = false;
  let turning = Promise.resolve();

  function wake(): void {
    hasNews = true;
    if (!isTurning) turning = turn();
  }

  /** One round after the other while there is news. One that failed is tried again by the next look. */
  async function turn(): Promise<void> {
    isTurning = true;
    while (hasNews) {
      hasNews = false;
      await round().catch((cause: unknown) => log("error", "deliveries were not taken", { cause }));
    }
    isTurning = false;
  }

  async function round(): Promise<void> {
    const due = await findDue();
    const back = { landed, cut };
    if (due.length + landed.length + cut.length === 0) return;
    [landed, cut] = [[], []];
    try {
      const { taken, off } = await write(due, back);
      for (const key of taken) launch(due, key);
      for (const webhook of off) void tell(webhook);
      hasNews ||= taken.length + back.landed.length > 0;
    } catch (thrown) {
      landed = [...back.landed, ...landed];
      cut = [...back.cut, ...cut];
      throw thrown;
    }
  }

  /** As much as there is room for. */
  async function findDue(): Promise<readonly DueDelivery[]> {
    const max = Math.min(batchMax, flightsMax - flying.size);
    if (stopping.signal.aborted || max <= 0) return [];
    const due = await store.deliveries.due(clock.now(), { max, perWebhook, full: flying.full() });
    const byWebhook = Map.groupBy(due, ({ webhookId }) => webhookId);
    return [...byWebhook].flatMap(([id, waiting]) => waiting.slice(0, flying.room(id)));
  }

  function write(due: readonly DueDelivery[], back: { readonly landed: readonly Landed[]; readonly cut: readonly AttemptKey[] }) {
    const now = clock.now();
    const [wanted, unwanted] = [due.filter((one) => isWanted(one, now)), due.filter((one) => !isWanted(one, now))];
    return store.change(async (tx) => {
      const off = await recordOutcomes(tx, back.landed, now);
      await tx.deliveries.giveBack(back.cut, now);
      await tx.deliveries.cancel(unwanted.map(idOf), now);
      await tx.webhookEvents.settled(unwanted.map(({ event }) => event.id));
      return { off, taken: await tx.deliveries.take(wanted.map(idOf), now, now + leaseMs) };
    });
  }

  function launch(due: readonly DueDelivery[], key: AttemptKey): void {
    const delivery = due.find(({ id }) => id === key.deliveryId);
    if (delivery?.webhook) flying.add(delivery.webhookId, attempt(delivery, delivery.webhook, key).finally(wake));
  }

  async function attempt({ type, event }: DueDelivery, webhook: DueWebhook, key: AttemptKey): Promise<void> {
    try {
      const sent = await parts.send(webhook, event, cutting.signal);
      const next = nextOf({ type, number: key.number, sent }, clock.now(), dice(parts.random), parts.delaysMs ?? scheduleMs);
      landed.push({ ...key, eventId: event.id, sent, next, webhook });
    } catch (cause) {
      if (cutting.signal.aborted) cut.push(key);
      // Not the receiver's fault: it is due again when the lease ends.
      else log("error", "a delivery could not be sent", { deliveryId: key.deliveryId, cause });
    }
  }

  const tell = (off: SwitchedOff) =>
    parts.notify(off).catch((cause: unknown) => log("error", "the owner of a webhook was not told", { webhookId: off.id, cause }));

  const looks = repeat(clock, lookMs, stopping.signal, log, async function lookForDeliveries() {
    wake();
  });

  return {
    wake,
    hasRoom: () => flying.size < flightsMax,
    async drain(ms) {
      stopping.abort();
      const waited = new AbortController();
      const late = clock.sleep(ms, waited.signal).then(
        () => cutting.abort(),
        () => undefined,
      );
      // A round that is under way may still begin some.
      await turning;
      await flying.ended();
      waited.abort();
      await Promise.all([looks, late, turning]);
      await round().catch((cause: unknown) => log("error", "the last deliveries were not recorded", { cause }));
    },
  };
}

const idOf = ({ id }: DueDelivery): string => id;

/** From 0 up to 1. */
const dice = (random: Random): number => Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
