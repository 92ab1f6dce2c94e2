import { readFileSync } from "node:fs";

/** Linux reports a process's time in hundredths of a second. */
const tickMs = 10;

/** Milliseconds of user and system time that a process has used. */
export function cpuMsOf(pid: number): number {
  // The name in brackets can contain any characters, including spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const [user = "0", system = "0"] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}

/** The resident memory of a process in kilobytes. */
export function residentKbOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes ?? 0);
}
