import type { Clock } from "../clock.ts";
import type { Repeats } from "../repeats.ts";
import type { Tx } from "../store.ts";
import { unservedAfterMs } from "../tasks/run-state.ts";
import { type Disk, freePercent, isReplicaUnused, lateSeconds, type ReplicaState } from "./checks.ts";

export interface WatchParts {
  readonly store: Pick<Tx, "workers" | "installation">;
  readonly clock: Pick<Clock, "now">;
  /** Receives conditions that hold, and those that no longer hold. */
  readonly warnings: Pick<Repeats, "again" | "over">;
  readonly remoteProfiles: readonly string[];
  readonly readDisk: () => Promise<Disk>;
  /** The time of the database's machine in Unix milliseconds; null for a database of this machine. */
  readonly databaseTime: () => Promise<number | null>;
  /** Asks the read replica how it is; null without one. */
  readonly replica: (() => Promise<ReplicaState>) | null;
}

/** The largest difference of two clocks, in seconds. Leases tolerate more: they are measured by one clock. */
const skewSeconds = 5;
/** Tasks that a look counts at most. */
const countMax = 10_000;

/** A condition: its key, whether it holds, and the warning while it does. */
interface Condition {
  readonly key: string;
  readonly holds: boolean;
  readonly text: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * Creates a look at the installation, which warns of profiles without workers, late queues, a disk that is
 * nearly full, clocks that differ and a replica that is not used: once when it begins, then counted, and once
 * when it is over.
 */
export function installationWatch(parts: WatchParts): () => Promise<void> {
  const { clock, warnings } = parts;
  let profiles: ReadonlySet<string> = new Set();

  /** A profile that is no longer reported has no task that waits. */
  function note(conditions: readonly Condition[]): void {
    for (const { key, holds, text, fields = {} } of conditions)
      if (holds) warnings.again(key, { level: "warn", text, fields });
      else warnings.over(key);
  }

  return async () => {
    const now = clock.now();
    const found = [...(await unserved(parts, now)), ...(await lateQueues(parts, now))];
    const keys = new Set(found.map(({ key }) => key));
    for (const key of profiles) if (!keys.has(key)) warnings.over(key);
    profiles = keys;
    note([...found, ...(await diskAndClock(parts)), ...(await unusedReplica(parts))]);
  };
}

async function unserved({ store, remoteProfiles }: WatchParts, now: number): Promise<readonly Condition[]> {
  if (remoteProfiles.length === 0) return [];
  const waits = await store.workers.unserved(remoteProfiles, now - unservedAfterMs);
  return waits.map(({ profile, waiting }) => ({
    key: `worker ${profile}`,
    holds: true,
    fields: { profile, waiting },
    text: `no worker has called for profile ${profile} in the last minute: tasks wait for one`,
  }));
}

async function lateQueues({ store }: WatchParts, now: number): Promise<readonly Condition[]> {
  // The loads are read by the thread of scans, which an idle process does not need.
  if (!(await store.installation.isQueueOlder(now - lateSeconds * 1000))) return [];
  const loads = await store.installation.profiles(now + 1, countMax);
  return loads.map(({ profile, queued, oldestAt }) => {
    const seconds = oldestAt === null ? 0 : Math.floor((now - oldestAt) / 1000);
    return {
      key: `queue ${profile}`,
      holds: seconds > lateSeconds,
      fields: { profile, waiting: queued, seconds },
      text: `tasks of profile ${profile} wait for more than a minute`,
    };
  });
}

async function unusedReplica({ replica }: WatchParts): Promise<readonly Condition[]> {
  if (replica === null) return [];
  const state = await replica();
  return [
    {
      key: "replica",
      holds: isReplicaUnused(state),
      fields: { problem: state.problem, secondsBehind: state.secondsBehind },
      text: "the replica of DATABASE_READ_URL is down or behind: the primary runs its reads",
    },
  ];
}

async function diskAndClock({ clock, readDisk, databaseTime }: WatchParts): Promise<readonly Condition[]> {
  const [disk, before, time] = [await readDisk(), clock.now(), await databaseTime()];
  const free = disk && Math.floor((disk.free / disk.size) * 100);
  // The answer was made at some time in between.
  const skew = time === null ? 0 : Math.round(((before + clock.now()) / 2 - time) / 1000);
  return [
    {
      key: "disk",
      holds: free !== null && free < freePercent,
      fields: { freePercent: free },
      text: `the disk of the data folder is nearly full: less than ${freePercent}% is free`,
    },
    {
      key: "clock",
      holds: Math.abs(skew) > skewSeconds,
      fields: { seconds: skew },
      text: `the clocks of this process and of the database differ by more than ${skewSeconds} s`,
    },
  ];
}
