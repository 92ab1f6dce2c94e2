import { readdirSync, readFileSync } from "node:fs";

/** Linux reports a process's time in hundredths of a second. */
const tickMs = 10;

/** Milliseconds of user and system time that a process has used. */
export function cpuMsOf(pid: number): number {
  // The name in brackets can contain any characters, including spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const [user = "0", system = "0"] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}

/** The same of the backends of a database of PostgreSQL, which has one for each connection. */
export const cpuMsOfBackends = (database: string): number =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(` ${database} `))
    .reduce((sum, pid) => sum + cpuMsOf(Number(pid)), 0);

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The resident memory of a process in kilobytes. */
export function residentKbOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes ?? 0);
}
