import { readFileSync, writeFileSync } from "node:fs";

/** The resident memory of a process, in bytes. */
export interface Memory {
  readonly resident: number;
  /** The highest value since the start, or since `resetPeak`. */
  readonly peak: number;
}

/** Reads `/proc/PID/status`. @throws Error when the process is gone. */
export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { resident: bytes("VmRSS"), peak: bytes("VmHWM") };
}

/** Sets the peak to the current resident memory (proc(5), `clear_refs`). */
export const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, "5");
