import type { Clock } from "../clock.ts";
import type { Node } from "../processes/shared.ts";
import type { Tx } from "../store.ts";
import type { DeliveryState } from "../webhooks/delivery.ts";
import type { Worker } from "../workers/worker.ts";

/** The highest count that a status has: counting more would cost too much. */
export const countMax = 100_000;
const hourMs = 3_600_000;
const intervalMs = 5 * 60_000;
/** A worker counts as present for this long after a call. */
const presentMs = 60_000;
/** How long the counts of stored contents are kept: they read every row. */
const storageMs = 60_000;
const nodesMax = 100;
const workersMax = 50;

/** A process that runs tasks, with their number. */
export interface NodeLoad extends Node {
  /** The id of its row of keys; null for an older release. */
  readonly processId: string | null;
  /** The time of its last heartbeat by its own clock; null before the first one. */
  readonly beatAt: number | null;
  readonly running: number;
}

/** The tasks of a profile over all spaces. Times are Unix milliseconds. */
export interface ProfileLoad {
  readonly profile: string;
  readonly queued: number;
  /** When the first waiting task was queued; null when none waits. */
  readonly oldestAt: number | null;
  readonly running: number;
  /** Failed since the asked time. */
  readonly failed: number;
}

/** A credential of remote workers: never its name. */
export type WorkerLoad = Pick<Worker, "id" | "spaceId" | "profiles" | "seenAt"> & { readonly runs: number };

export interface DeliveryCount {
  /** Number of the interval since the asked time, from 0. */
  readonly interval: number;
  readonly state: DeliveryState;
  readonly count: number;
}

/** The number of things that wait for a time, and the first time that has passed; null when none has. */
export interface Overdue {
  readonly count: number;
  readonly due: number;
  readonly oldestDueAt: number | null;
}

/** All spaces, for operators: counts, ages, ids and states, and the end of all credentials. */
export interface InstallationRows {
  nodes(max: number): Promise<readonly NodeLoad[]>;
  profiles(failedSince: number, max: number): Promise<readonly ProfileLoad[]>;
  /**
   * Whether a task of any profile that waits now has waited since `at` or longer. Cheap, unlike `profiles`.
   */
  isQueueOlder(at: number): Promise<boolean>;
  workers(seenSince: number): Promise<{ credentials: number; present: number; runs: number }>;
  /** The last called first. */
  listWorkers(max: number): Promise<readonly WorkerLoad[]>;
  pendingDeliveries(now: number, max: number): Promise<Overdue>;
  deliveries(since: number, intervalMs: number, max: number): Promise<readonly DeliveryCount[]>;
  webhooks(): Promise<{ active: number; failing: number; inactive: number }>;
  /** Reads every row. */
  contents(): Promise<{ files: number; bytes: number; loose: number }>;
  databaseBytes(): Promise<number>;
  /**
   * The time of the database's machine, in Unix milliseconds; null for SQLite, which has no other machine.
   */
  databaseTime(): Promise<number | null>;
  jobs(now: number): Promise<readonly (Overdue & { kind: string })[]>;
  failures(since: number, max: number): Promise<{ workerRuns: number; exports: number }>;
  /** When the oldest entry of the audit log that is not sealed was written; null when all are. */
  unsealedSince(): Promise<number | null>;
  /** Ends all API keys, workers' credentials, tokens of apps, sessions and sign-in links. */
  revokeAll(now: number): Promise<void>;
}

/** The state of the installation. Times are Unix milliseconds. */
export interface InstallationStatus {
  readonly at: number;
  readonly nodes: readonly NodeLoad[];
  readonly profiles: readonly ProfileLoad[];
  readonly workers: Awaited<ReturnType<InstallationRows["workers"]>> & { data: readonly WorkerLoad[] };
  readonly deliveries: Overdue & {
    readonly webhooks: Awaited<ReturnType<InstallationRows["webhooks"]>>;
    readonly intervals: readonly Interval[];
  };
  readonly contents: Awaited<ReturnType<InstallationRows["contents"]>>;
  readonly databaseBytes: number;
  readonly jobs: Awaited<ReturnType<InstallationRows["jobs"]>>;
  readonly failed: { tasks: number; workerRuns: number; deliveries: number; exports: number };
  /** Tasks of remote profiles that have waited for a minute without a worker. */
  readonly unserved: number;
  readonly unsealedAt: number | null;
}

/** The deliveries of five minutes by their state. */
export interface Interval {
  readonly start: number;
  readonly delivered: number;
  readonly pending: number;
  readonly failed: number;
}

export type ReadInstallation = (tx: Tx) => Promise<InstallationStatus>;

/** @param remoteProfiles the profiles whose tasks remote workers run. */
export function installationReader(
  clock: Pick<Clock, "now">,
  remoteProfiles: readonly string[],
): ReadInstallation {
  let counted: { at: number; contents: InstallationStatus["contents"] } | undefined;

  /** Contents are counted at most once a minute. */
  async function contentsOf({ installation }: Tx, now: number): Promise<InstallationStatus["contents"]> {
    if (counted === undefined || now - counted.at >= storageMs)
      counted = { at: now, contents: await installation.contents() };
    return counted.contents;
  }

  return async (tx) => {
    const { installation } = tx;
    const at = clock.now();
    const since = at - hourMs;
    const start = Math.floor(since / intervalMs + 1) * intervalMs;
    const profiles = await installation.profiles(since, countMax);
    const intervals = intervalsOf(await installation.deliveries(start, intervalMs, countMax), start);
    const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
    return {
      at,
      profiles,
      nodes: await installation.nodes(nodesMax),
      workers: {
        ...(await installation.workers(at - presentMs)),
        data: await installation.listWorkers(workersMax),
      },
      deliveries: {
        ...(await installation.pendingDeliveries(at, countMax)),
        webhooks: await installation.webhooks(),
        intervals,
      },
      contents: await contentsOf(tx, at),
      databaseBytes: await installation.databaseBytes(),
      jobs: await installation.jobs(at),
      failed: {
        ...(await installation.failures(since, countMax)),
        tasks: sum(profiles.map(({ failed }) => failed)),
        deliveries: sum(intervals.map(({ failed }) => failed)),
      },
      unserved: sum(
        (await tx.workers.unserved(remoteProfiles, at - presentMs)).map(({ waiting }) => waiting),
      ),
      unsealedAt: await installation.unsealedSince(),
    };
  };
}

/** Every interval of the hour, those without deliveries included. */
function intervalsOf(counts: readonly DeliveryCount[], start: number): readonly Interval[] {
  return Array.from({ length: hourMs / intervalMs }, (_, index) => {
    const of = (state: DeliveryState): number =>
      counts.find((each) => each.interval === index && each.state === state)?.count ?? 0;
    return {
      start: start + index * intervalMs,
      delivered: of("delivered"),
      pending: of("pending"),
      failed: of("failed"),
    };
  });
}
