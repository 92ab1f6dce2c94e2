import { readFileSync } from "node:fs";

/** What one run of a closed loop showed. */
export interface Sample {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** User and system time of the server's process per call, milliseconds; /proc counts in steps of 10 ms. */
  readonly cpuMs: number;
}

/** A case under load: one call, checked, against the process that serves it. */
export interface Case {
  readonly pid: number;
  call(): Promise<void>;
}

/** Calls as often as `concurrency` callers can in `ms`, each waiting for its answer. */
export async function sample({ pid, call }: Case, concurrency: number, ms: number): Promise<Sample> {
  const times: number[] = [];
  const began = performance.now();
  const cpu = cpuOf(pid);
  const caller = async () => {
    for (let at = performance.now(); at - began < ms; at = performance.now()) {
      await call();
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  const seconds = (performance.now() - began) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  return { perSecond: times.length / seconds, p50: at(sorted, 0.5), p99: at(sorted, 0.99), cpuMs: (cpuOf(pid) - cpu) / times.length };
}

const at = (sorted: readonly number[], part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

export const median = (values: readonly number[]): number =>
  at(
    values.toSorted((a, b) => a - b),
    0.5,
  );

/** Milliseconds of CPU that a process has used, from /proc (Linux). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const [user = "0", system = "0"] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

/** Megabytes that a process holds in memory. */
export function residentOf(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}
