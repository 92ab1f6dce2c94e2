import type { Caller } from "../accounts/caller.ts";
import { purging } from "../processes/timed-job.ts";
import type { WebhookEvent } from "./delivery.ts";
import type { Webhook } from "./webhook.ts";

const minuteMs = 60_000;

/** The most listeners of an account at once, and the longest life of one (spec/api.md 8.94). */
export const listenersMax = 5;
export const listenerMs = 60 * minuteMs;
/** The most events that wait for a stream; further events are only counted. */
export const waitingMax = 100;
/** A listener whose process has not renewed it for this long is lost. */
export const listenerLeaseMs = minuteMs;

/** A temporary webhook without an address, bound to a stream. Times are Unix milliseconds. */
export interface WebhookListener
  extends Pick<Webhook, "id" | "accountId" | "spaceId" | "eventTypes" | "projectId" | "secret"> {
  readonly expiresAt: number;
  /** When the process that holds the stream was last alive. */
  readonly renewedAt: number;
}

/** An accepted event that was not sent yet. */
export interface WaitingEvent extends Pick<WebhookEvent, "id" | "type" | "body"> {
  /** The order of acceptance, from 1. */
  readonly position: number;
}

export interface ListenerState {
  readonly waiting: number;
  /** Events that were dropped since the listener was created. */
  readonly dropped: number;
}

export interface HeardEvent {
  readonly listenerId: string;
  readonly eventId: string;
}

/** Rows of listeners and of the events that wait for them. */
export interface ListenerRows {
  insert(listener: WebhookListener): Promise<void>;
  /** How many listeners of an account are alive. The caller has locked the account. */
  count(accountId: Caller["accountId"], now: number): Promise<number>;
  /** Null once the listener is removed. */
  state(id: string): Promise<ListenerState | null>;
  /** Records that its process is alive. False once the listener is removed. */
  renew(id: string, now: number): Promise<boolean>;
  /**
   * Adds events in this order, up to `waitingMax` for a listener, and counts the others as dropped. Ignores
   * removed listeners.
   */
  put(events: readonly HeardEvent[]): Promise<void>;
  /** The first waiting events, in order. The body is empty when it is no longer kept. */
  listWaiting(id: string, max: number): Promise<readonly WaitingEvent[]>;
  /** Removes the events up to this position, because they were sent. */
  settle(id: string, position: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** Removes listeners that are over or lost. */
  purge(now: number): Promise<void>;
}

/** A listener of a dead process is removed at most a minute after its lease ends. */
export const purgeListeners = {
  ...purging("purge-listeners", (tx, now) => tx.listeners.purge(now)),
  every: minuteMs,
};
