/** How a run got its task: from the queue, again in the same process, or from a process that is dead. */
export type Claim = "claimed" | "resumed" | "taken_over";

/**
 * How a run ended: by its agent, by its budget, by a drain or an error of the process, or because another run
 * has its task.
 */
export type RunEnding = "finished" | "asked" | "waits" | "failed" | "spent" | "released" | "error" | "lost";

/**
 * Why this process gave up runs: it sent no heartbeat in time, its peers considered it dead, or a worker's
 * lease has lapsed.
 */
export type Loss = "heartbeat" | "peers" | "worker_lease";

export interface ObservedCall {
  /** The operation, or the template of an address that is none; `unknown` for anything else. */
  readonly operation: string;
  readonly wire: string;
  /** `ok`, or the reason of the refusal. */
  readonly outcome: string;
  readonly seconds: number;
  /** Credential, access and limit allowed the call. */
  readonly isAdmitted: boolean;
}

export interface ObservedModelCall {
  /** The name of the model at its endpoint. */
  readonly model: string;
  readonly outcome: "ok" | "failed";
  readonly seconds: number;
}

/** Tokens of a call of a model; those that were cached and those that were written into a cache are input too. */
export interface ObservedTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

export interface PoolUse {
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  readonly waiting: number;
}

/** What a process does, for its metrics. Every function is cheap and never throws. */
export interface Observe {
  callBegan(wire: string): void;
  callEnded(call: ObservedCall): void;
  runEnded(profile: string, ending: RunEnding): void;
  /** The agents by profile: an object that changes with them. */
  servedBy(agents: Readonly<Record<string, string>>): void;
  claimed(kind: Claim, count: number): void;
  lost(reason: Loss, count: number): void;
  /** An attempt of a delivery has ended; `seconds` is its time on the network, null when none was made. */
  attempted(outcome: "delivered" | "retried" | "failed" | "cancelled", seconds: number | null): void;
  webhooksDisabled(count: number): void;
  /** An attempt of a push notification has ended after this time on the network. */
  pushed(outcome: "delivered" | "retried" | "failed", seconds: number): void;
  /** One commit, with the number of changes in it. */
  committed(changes: number): void;
  /** The time until a change could begin to write. */
  writerWaited(seconds: number): void;
  changed(outcome: "committed" | "failed", seconds: number): void;
  /** A read of many rows, where there is a read replica. */
  scanned(server: "replica" | "primary"): void;
  /** Names a pool, and how to read it. */
  pool(name: string, read: () => PoolUse): void;
  modelCalled(call: ObservedModelCall): void;
  tokensUsed(model: string, tokens: ObservedTokens): void;
  /** A turn has begun with another system message or other tools than the turn before. */
  prefixChanged(model: string): void;
  /** A run did not begin, or ended, because a budget, or its own limit, has too few credits. */
  budgetRefused(): void;
  uploaded(outcome: string, bytes: number): void;
  /** Names a kind of open watches, and how to count them. */
  watchers(kind: string, count: () => number): void;
  jobsRun(kind: string, outcome: "done" | "failed", count: number): void;
  /** A timed job has ended after this time. */
  timedJobEnded(kind: string, outcome: "done" | "failed", seconds: number): void;
  /** Names a timed job, and how to read the seconds since it was last done. */
  timedJob(kind: string, everySeconds: number, age: () => number): void;
  /** Spans, or lines of the log, were not exported. */
  telemetryDropped(signal: "traces" | "logs", count: number): void;
}

const nothing = (): void => undefined;

export const unobserved: Observe = {
  callBegan: nothing,
  callEnded: nothing,
  runEnded: nothing,
  servedBy: nothing,
  claimed: nothing,
  lost: nothing,
  attempted: nothing,
  webhooksDisabled: nothing,
  pushed: nothing,
  committed: nothing,
  writerWaited: nothing,
  changed: nothing,
  scanned: nothing,
  pool: nothing,
  modelCalled: nothing,
  tokensUsed: nothing,
  prefixChanged: nothing,
  budgetRefused: nothing,
  uploaded: nothing,
  watchers: nothing,
  jobsRun: nothing,
  timedJobEnded: nothing,
  timedJob: nothing,
  telemetryDropped: nothing,
};

/** Seconds since a time of `performance.now()`. */
export const secondsSince = (start: number): number => (performance.now() - start) / 1000;
