import { cpuMsOf } from "../../../bench/process-usage.ts";
import { memoryOf, resetPeak } from "../../support/process-memory.ts";
import type { Cost } from "./cost.ts";

/** Reads the resource usage of another process. */
export interface Meter {
  /** The cost since the last call, or since the meter was made. @throws Error when the process is gone */
  read(): Cost;
}

/** @returns null without `/proc`: the cost is unknown. */
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
