/** The resources that a server used for requests. */
export interface Cost {
  /** Time on a processor, in milliseconds, of all its threads. */
  readonly cpuMs: number;
  /** How far resident memory, heap and buffers together, rose above what it was before, in bytes. */
  readonly heapBytes: number;
}

/**
 * Cost allowed per request, and per byte of it: about ten times the cost of the most expensive valid
 * requests.
 */
const cpuMs = { request: 500, byte: 0.02 };
const heapBytes = { request: 128 * 1024 ** 2, byte: 100 };

export const tooMuchCpu = "costs too much time on a processor for its size";
export const tooMuchMemory = "costs too much memory for its size, or others under way with it do";

/** Faults in the cost of a request of this many bytes; an empty list for an acceptable cost. */
export function faultsOfCost(cost: Cost, bytes: number): readonly string[] {
  const faults: string[] = [];
  if (cost.cpuMs > cpuMs.request + bytes * cpuMs.byte) faults.push(tooMuchCpu);
  if (cost.heapBytes > heapBytes.request + bytes * heapBytes.byte) faults.push(tooMuchMemory);
  return faults;
}

/** The lowest of several measurements: excludes the cost of other requests and of garbage collection. */
export const lowest = (costs: readonly Cost[]): Cost => ({
  cpuMs: Math.min(...costs.map((cost) => cost.cpuMs)),
  heapBytes: Math.min(...costs.map((cost) => cost.heapBytes)),
});
