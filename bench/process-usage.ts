import { readFileSync } from "node:fs";

/** Linux counts a process's time in hundredths of a second. */
const tickMs = 10;

/** Milliseconds of user and system time that a process has used. */
export function cpuMsOf(pid: number): number {
  // The name in brackets may hold anything, blanks too.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const [user = "0", system = "0"] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}

/** Kilobytes that a process holds in memory. */
export function residentKbOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes ?? 0);
}
