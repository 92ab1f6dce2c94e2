import type { DispatchSignals } from "../../../async/dispatcher.ts";
import type { Cipher } from "../../../core/cipher.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Random } from "../../../core/ids.ts";
import type { Log } from "../../../core/log.ts";
import type { Observe } from "../../../core/observe.ts";
import {
  openPushSecrets,
  type PushConfig,
  type PushConfigRows,
  type PushSecrets,
} from "../../../core/push/push-config.ts";
import type { Repeats } from "../../../core/repeats.ts";
import type { Store } from "../../../core/store.ts";
import type { AttemptResult } from "../../../core/webhooks/delivery.ts";
import type { Post } from "../../../webhooks/post.ts";
import { nextStateOf, randomFraction } from "../../../webhooks/record.ts";
import { protocolVersion } from "../protocol.ts";
import type { NotificationParts } from "./notifications.ts";

/** The dependencies of a run of a sender over one configuration. */
export interface RunParts extends NotificationParts {
  readonly store: Pick<Store, "change" | "pushConfigs">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observe: Observe;
  readonly warnings: Pick<Repeats, "again" | "over">;
  readonly cipher: Pick<Cipher, "open">;
  readonly post: Post;
  /** Name and version of the service. */
  readonly userAgent: string;
}

/** Longer than a request and its conversion may take. After it, the process counts as dead. */
export const leaseMs = 30_000;
/** Events of one run. Others get their turn after it. */
const eventsMax = 100;

/**
 * Sends what a claimed configuration has not sent, event by event, until nothing is left, an attempt fails,
 * the claim is lost, or it may no longer send. Each event that was sent is noted before the next: after a
 * crash at most one is sent twice.
 */
export async function runPush(
  config: PushConfig,
  claim: string,
  parts: RunParts,
  signals: DispatchSignals,
): Promise<void> {
  const { store, clock, observe } = parts;
  const headers = headersOf(openPushSecrets(parts.cipher, config), parts.userAgent);
  // Loaded with the first configuration of the process.
  const { notificationsOf } = await import("./notifications.ts");
  const { placeOf } = await import("../task.ts");
  const place = placeOf({ id: config.taskId, metadata: await parts.metadataOf(config.taskId) });
  let now: PushConfig = config;
  const write = <T>(work: (rows: PushConfigRows) => Promise<T>) => store.change((tx) => work(tx.pushConfigs));
  const giveBack = () =>
    write((rows) => rows.release(config, claim, { ...resultOf(now), nextAt: clock.now() }));

  const window = { afterSeq: config.sentSeq, order: "asc", limit: eventsMax + 1, verbose: true } as const;
  const events = await parts.events.list(config.taskId, window);
  for (const [index, event] of events.slice(0, eventsMax).entries()) {
    const bodies = await notificationsOf(
      event,
      { ...place, hasEvents: config.hasEvents, next: events[index + 1] },
      parts,
    );
    for (const body of bodies) {
      const mayStart = !signals.stopping.aborted && (await store.pushConfigs.maySend(config, clock.now()));
      const sent = mayStart ? await sendOne(config, body, headers, parts, signals.aborting) : null;
      if (sent === null) return void (await giveBack());
      if (!sent.delivered) return fail(now, claim, sent, parts);
      observe.pushed("delivered", sent.latencyMs / 1000);
      now = { ...now, attempts: 0, lastError: null };
    }
    now = { ...now, sentSeq: event.seq };
    if (
      bodies.length > 0 &&
      !(await write((rows) => rows.advance(config, claim, event.seq, clock.now() + leaseMs)))
    )
      return;
  }
  if (events.length > eventsMax) await giveBack();
  else await write((rows) => rows.endOrRelease(config, claim, now.sentSeq, clock.now()));
}

const resultOf = ({ sentSeq, attempts, lastError }: PushConfig) => ({
  sentSeq,
  attempts,
  lastError,
  state: "active" as const,
});

/** The headers of a notification (A2A 1.0, 4.3.3). */
const headersOf = (
  { token, scheme, credentials }: PushSecrets,
  userAgent: string,
): Readonly<Record<string, string>> => ({
  "content-type": "application/a2a+json",
  "a2a-version": protocolVersion,
  "user-agent": userAgent,
  accept: "*/*",
  "accept-encoding": "identity",
  ...(token !== undefined && { "x-a2a-notification-token": token }),
  ...(scheme !== undefined && credentials !== undefined && { authorization: `${scheme} ${credentials}` }),
});

/** Makes one attempt; null when it was aborted. */
async function sendOne(
  { taskId, clientId, configId, accountId, url }: PushConfig,
  body: string,
  headers: Readonly<Record<string, string>>,
  { post, clock, warnings }: RunParts,
  aborting: AbortSignal,
): Promise<AttemptResult | null> {
  const holder = JSON.stringify([taskId, clientId, configId]);
  try {
    const sent = await post(
      { url, holder, accountId },
      { body: Buffer.from(body), headers, at: clock.now() },
      aborting,
    );
    if (sent.delivered) warnings.over(`push ${holder}`);
    else {
      const { status, failure } = sent;
      const fields = { taskId, configId, status, failure };
      warnings.again(`push ${holder}`, { level: "warn", text: "push notifications of a task fail", fields });
    }
    return sent;
  } catch (thrown) {
    if (aborting.aborted) return null;
    throw thrown;
  }
}

/** Notes a failed attempt: the next one follows as for a webhook (spec/webhooks.md 9), or there is none. */
async function fail(
  config: PushConfig,
  claim: string,
  sent: AttemptResult,
  { store, clock, random, log, observe }: RunParts,
): Promise<void> {
  const { taskId, configId, sentSeq } = config;
  const attempts = config.attempts + 1;
  const next = nextStateOf(
    { type: "task_stopped", number: attempts, sent },
    clock.now(),
    randomFraction(random),
  );
  const state = next.state === "pending" ? "active" : "failed";
  const lastError = sent.failure ?? `status ${sent.status}`;
  const result = { sentSeq, attempts, lastError, state, nextAt: next.nextAt ?? clock.now() } as const;
  const isHeld = await store.change((tx) => tx.pushConfigs.release(config, claim, result));
  observe.pushed(state === "active" ? "retried" : "failed", sent.latencyMs / 1000);
  if (state === "failed" && isHeld)
    log("warn", "push notifications of a task were given up", { taskId, configId, attempts, lastError });
}
