import { type Places, startDispatcher } from "../../../async/dispatcher.ts";
import type { AuditEntry } from "../../../core/audit/audit.ts";
import type { Ids } from "../../../core/ids.ts";
import type { LostPush, PushConfig } from "../../../core/push/push-config.ts";
import type { Store } from "../../../core/store.ts";
import { leaseMs, type RunParts, runPush } from "./run.ts";

/** Sends push notifications in this process. */
export interface PushSender {
  /** A task of this process has a new configuration. */
  watch(taskId: string): void;
  /**
   * Begins no more requests. Those in progress end, or are aborted after `ms`. Resolves when all is recorded.
   */
  drain(ms: number): Promise<void>;
}

export interface PushSenderParts extends Omit<RunParts, "store" | "events"> {
  readonly store: Store;
  readonly ids: Pick<Ids, "short" | "request">;
}

/**
 * How often all configurations are looked at: those of other processes, retries, and what news did not reach.
 */
const everyMs = 2_000;
/**
 * Configurations that this process sends for at once, and of one account: a hanging receiver does not delay
 * those of others.
 */
const limits = { max: 100, perHolder: 10 };
/** Configurations that one look ends. */
const lostMax = 1_000;
/** Tasks whose news wake the sender. Those of further tasks wait for the next look. */
const watchedMax = 10_000;

/**
 * Sends push notifications, one request at a time for each configuration. A configuration is claimed with a
 * lease, so that one of several processes sends for it; the next one continues after the last event that was
 * noted as sent.
 */
export function startPushSender({ store, ...rest }: PushSenderParts): PushSender {
  const { clock, log, ids } = rest;
  const parts: RunParts = { ...rest, store, events: store.events };
  let watched = new Set<string>();
  /** Tasks with news; null: all tasks. */
  let changed: Set<string> | null = new Set();

  const dispatcher = startDispatcher<Taken>({
    clock,
    log,
    name: "push notifications",
    everyMs,
    limits,
    round,
    holderOf: ({ config }) => config.accountId,
    attempt: ({ config, claim }, signals) => runPush(config, claim, parts, signals).then(() => undefined),
    // Events during its end found the configuration claimed.
    ended: ({ config }, wasFull) => (wasFull ? wakeForAll() : wakeFor(config.taskId)),
    async look() {
      watched = new Set(await store.pushConfigs.tasks(watchedMax));
      if (watched.size > 0) changed = null;
    },
  });

  function wakeFor(taskId: string): void {
    changed?.add(taskId);
    void dispatcher.wake();
  }

  async function round({ free, full, fitting }: Places) {
    const tasks = changed === null ? null : [...changed];
    changed = new Set();
    if (free <= 0 || tasks?.length === 0) return { taken: [], more: false };
    await endLost(await store.pushConfigs.lost(clock.now(), lostMax, tasks));
    const due = await store.pushConfigs.due(clock.now(), { max: free, full }, tasks);
    const taken = await take(fitting(due, ({ accountId }) => accountId));
    // More may be due than was read, or than an account may have now.
    const more = due.length === free && taken.length > 0;
    if (more) changed = null;
    return { taken, more };
  }

  function wakeForAll(): void {
    changed = null;
    void dispatcher.wake();
  }

  /** Deletes configurations that may no longer send. The deletion of a task has its own audit row. */
  async function endLost(lost: readonly LostPush[]): Promise<void> {
    if (lost.length === 0) return;
    await store.change(async (tx) => {
      for (const { isTaskGone, ...config } of lost)
        if ((await tx.pushConfigs.remove(config)) && !isTaskGone)
          await tx.audit.insert(endOf(config, ids, clock.now()));
    });
  }

  async function take(due: readonly PushConfig[]) {
    if (due.length === 0) return [];
    const now = clock.now();
    return store.change(async (tx) => {
      const taken: Taken[] = [];
      for (const key of due) {
        const claim = ids.short();
        // Another sender may have sent since it was read.
        const config = await tx.pushConfigs.take(key, claim, now, now + leaseMs);
        if (config) taken.push({ config, claim });
      }
      return taken;
    });
  }

  const stopNews = store.feed.onTask(({ taskId }) => {
    if (watched.has(taskId)) wakeFor(taskId);
  });
  const stopLosses = store.feed.onLost(wakeForAll);
  return {
    watch(taskId) {
      watched.add(taskId);
      wakeFor(taskId);
    },
    async drain(ms) {
      stopNews();
      stopLosses();
      await dispatcher.drain(ms);
    },
  };
}

interface Taken {
  readonly config: PushConfig;
  readonly claim: string;
}

/** The audit row of a configuration whose key, app or membership has ended. */
const endOf = (
  { accountId, spaceId, taskId, configId, apiKeyId, url }: PushConfig,
  ids: PushSenderParts["ids"],
  at: number,
): AuditEntry => ({
  id: ids.short(),
  at,
  spaceId,
  accountId,
  credential: "push",
  operation: "push/EndConfiguration",
  requestId: ids.request(),
  address: "",
  subject: taskId,
  after: { reason: "access" },
  before: { push: configId, host: new URL(url).host, ...(apiKeyId !== null && { apiKeyId }) },
});
