import { readFileSync } from "node:fs";

/** Processor time in milliseconds. */
export interface Cpu {
  /** Of all threads of a process, in steps of 10 ms. */
  readonly all: number;
  /** Of its main thread. */
  readonly main: number;
}

/** Reads `/proc/PID/stat` and the main thread's `schedstat`. */
export function cpuOf(pid: number): Cpu {
  // The name in brackets can have blanks.
  const [user = "0", system = "0"] =
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ").slice(11, 13) ?? [];
  const [nanoseconds = "0"] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return { all: 10 * (Number(user) + Number(system)), main: Number(nanoseconds) / 1e6 };
}
