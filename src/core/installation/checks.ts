import type { InstallationStatus } from "./status.ts";

/** One measured value, and whether it is within its limit. */
export interface StatusCheck {
  readonly name:
    | "heartbeats"
    | "queue"
    | "workers"
    | "deliveries"
    | "jobs"
    | "audit_log"
    | "disk"
    | "replica";
  readonly isOk: boolean;
  /** Null when there is nothing to measure. */
  readonly value: number | null;
}

/** The read replica, as a process sees it now. */
export interface ReplicaState {
  /** Why no scan runs there, as the end of a sentence; null when scans can run there. */
  readonly problem: string | null;
  /** The age of the last change that it has, 0 when it has all; null when it is unknown. */
  readonly secondsBehind: number | null;
}

/** A replica that is further behind is of no use: the primary runs its scans. */
export const behindSeconds = 10;

/** Whether scans of a replica run on the primary, beyond a moment. */
export const isReplicaUnused = ({ problem, secondsBehind }: ReplicaState): boolean =>
  problem !== null || secondsBehind === null || secondsBehind > behindSeconds;

/** A process without a heartbeat for this long is taken over. */
const heartbeatSeconds = 15;
/** What waits longer than this is late. */
export const lateSeconds = 60;
/** Refusals of a minute are written after it, with the time of the first. */
const sealSeconds = 120;
/** The least free part of the disk, in percent. */
export const freePercent = 5;

/** The disk of the data folder, in bytes; null where the system does not tell. */
export type Disk = { readonly free: number; readonly size: number } | null;

export function checksOf(
  { at, nodes, profiles, deliveries, jobs, unserved, unsealedAt }: InstallationStatus,
  disk: Disk,
  replica: ReplicaState | null = null,
): readonly StatusCheck[] {
  const age = (times: readonly (number | null)[]): number | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(0, Math.floor((at - Math.min(...known)) / 1000));
  };
  const within = (name: StatusCheck["name"], value: number | null, max: number): StatusCheck => ({
    name,
    value,
    isOk: value === null || value <= max,
  });
  const free = disk && Math.floor((disk.free / disk.size) * 100);
  return [
    within("heartbeats", age(nodes.map(({ beatAt }) => beatAt)), heartbeatSeconds),
    within("queue", age(profiles.map(({ oldestAt }) => oldestAt)), lateSeconds),
    within("workers", unserved, 0),
    within("deliveries", age([deliveries.oldestDueAt]), lateSeconds),
    within("jobs", age(jobs.map(({ oldestDueAt }) => oldestDueAt)), lateSeconds),
    within("audit_log", age([unsealedAt]), sealSeconds),
    { name: "disk", value: free, isOk: free === null || free >= freePercent },
    ...(replica
      ? [{ name: "replica" as const, value: replica.secondsBehind, isOk: !isReplicaUnused(replica) }]
      : []),
  ];
}
