import { coalesce } from "../../async/coalesce.ts";
import { createInFlight, drain } from "../../async/dispatcher.ts";
import { poll } from "../../async/poll.ts";
import type { AuditEntry } from "../../core/audit/audit.ts";
import type { Ids } from "../../core/ids.ts";
import type { LostPush, PushConfig } from "../../core/push/push-config.ts";
import type { Store } from "../../core/store.ts";
import { leaseMs, type RunParts, runPush } from "./run.ts";

/** Sends push notifications in this process. */
export interface PushSender {
  /** A task of this process has a new configuration. */
  watch(taskId: string): void;
  /** Begins no more requests. Those in progress end, or are aborted after `ms`. Resolves when all is recorded. */
  drain(ms: number): Promise<void>;
}

export interface PushSenderParts extends Omit<RunParts, "store" | "events"> {
  readonly store: Store;
  readonly ids: Pick<Ids, "short" | "request">;
}

/** How often all configurations are looked at: those of other processes, retries, and what news did not reach. */
const lookMs = 2_000;
/** Configurations that this process sends for at once, and of one account: a hanging receiver does not delay those of others. */
const limits = { max: 100, perHolder: 10 };
/** Configurations that one look ends. */
const lostMax = 1_000;
/** Tasks whose news wake the sender. Those of further tasks wait for the next look. */
const watchedMax = 10_000;

/**
 * Sends push notifications, one request at a time for each configuration. A configuration is claimed with a lease, so that one of several
 * processes sends for it; the next one continues after the last event that was noted as sent.
 */
export function startPushSender({ store, ...rest }: PushSenderParts): PushSender {
  const { clock, log, ids } = rest;
  const parts: RunParts = { ...rest, store, events: store.events };
  const [stopping, aborting] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, aborting: aborting.signal };
  const inFlight = createInFlight(limits);
  let watched = new Set<string>();
  /** Tasks with news; null: all tasks. */
  let changed: Set<string> | null = new Set();

  const nextRound = coalesce(() => round().catch((cause: unknown) => log("error", "push notifications were not looked for", { cause })));
  const wake = (): void => void nextRound();

  function wakeFor(taskId: string): void {
    changed?.add(taskId);
    wake();
  }

  async function round(): Promise<void> {
    const tasks = changed === null ? null : [...changed];
    changed = new Set();
    if (stopping.signal.aborted || tasks?.length === 0) return;
    await endLost(await store.pushConfigs.lost(clock.now(), lostMax, tasks));
    const max = inFlight.free;
    if (max <= 0) return;
    const due = await store.pushConfigs.due(clock.now(), { max, full: inFlight.full() }, tasks);
    const taken = await take(inFlight.fitting(due, ({ accountId }) => accountId));
    for (const one of taken) launch(one);
    // More may be due than was read, or than an account may have now.
    if (due.length === max && taken.length > 0) wakeForAll();
  }

  function wakeForAll(): void {
    changed = null;
    wake();
  }

  /** Deletes configurations that may no longer send. The deletion of a task has its own audit row. */
  async function endLost(lost: readonly LostPush[]): Promise<void> {
    if (lost.length === 0) return;
    await store.change(async (tx) => {
      for (const { isTaskGone, ...config } of lost)
        if ((await tx.pushConfigs.remove(config)) && !isTaskGone) await tx.audit.insert(endOf(config, ids, clock.now()));
    });
  }

  async function take(due: readonly PushConfig[]) {
    if (due.length === 0) return [];
    const now = clock.now();
    return store.change(async (tx) => {
      const taken: { readonly config: PushConfig; readonly claim: string }[] = [];
      for (const key of due) {
        const claim = ids.short();
        // Another sender may have sent since it was read.
        const config = await tx.pushConfigs.take(key, claim, now, now + leaseMs);
        if (config) taken.push({ config, claim });
      }
      return taken;
    });
  }

  function launch({ config, claim }: { readonly config: PushConfig; readonly claim: string }): void {
    const { accountId, taskId, configId } = config;
    const run = runPush(config, claim, parts, signals).catch((cause: unknown) =>
      log("error", "push notifications could not be sent", { taskId, configId, cause }),
    );
    // Events during its end found the configuration claimed.
    inFlight.add(accountId, run, (wasFull) => (wasFull ? wakeForAll() : wakeFor(taskId)));
  }

  const stopNews = store.feed.onTask(({ taskId }) => {
    if (watched.has(taskId)) wakeFor(taskId);
  });
  const stopLosses = store.feed.onLost(wakeForAll);
  const looks = poll(clock, lookMs, stopping.signal, log, async function lookForPushes() {
    watched = new Set(await store.pushConfigs.tasks(watchedMax));
    if (watched.size > 0) wakeForAll();
  });

  return {
    watch(taskId) {
      watched.add(taskId);
      wakeFor(taskId);
    },
    async drain(ms) {
      stopNews();
      stopLosses();
      await drain({ clock, stopping, aborting, inFlight, nextRound, looks }, ms);
    },
  };
}

/** The audit row of a configuration whose key, app or membership has ended. */
const endOf = (
  { accountId, spaceId, taskId, configId, apiKeyId, url }: PushConfig,
  ids: PushSenderParts["ids"],
  at: number,
): AuditEntry => ({
  ...{ id: ids.short(), at, spaceId, accountId, credential: "push", operation: "push/EndConfiguration", requestId: ids.request() },
  ...{ address: "", subject: taskId, after: { reason: "access" } },
  before: { push: configId, host: new URL(url).host, ...(apiKeyId !== null && { apiKeyId }) },
});
