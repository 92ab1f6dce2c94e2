import { readFileSync } from "node:fs";
import { memoryOf, resetPeak } from "../../support/process-memory.ts";
import type { Cost } from "./cost.ts";

/** Reads what another process spends. */
export interface Meter {
  /** The cost since the last call, or since the meter was made. @throws Error when the process is gone */
  read(): Cost;
}

/** Linux counts the time of processes in hundredths of a second (proc(5), `CLK_TCK`). */
const tickMs = 10;

/** @returns null where there is no `/proc`: then no cost is known. */
export function meterOf(pid: number): Meter | null {
  if (process.platform !== "linux") return null;
  let cpuMs = cpuMsOf(pid);
  let resident = started(pid);
  return {
    read() {
      const cost = { cpuMs: cpuMsOf(pid) - cpuMs, heapBytes: memoryOf(pid).peak - resident };
      cpuMs += cost.cpuMs;
      resident = started(pid);
      return cost;
    },
  };
}

function started(pid: number): number {
  resetPeak(pid);
  return memoryOf(pid).resident;
}

/** User and system time; the name in front of the fields may have spaces in it. */
function cpuMsOf(pid: number): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const words = fields.split(" ");
  return (Number(words[11]) + Number(words[12])) * tickMs;
}
