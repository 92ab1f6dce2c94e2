/** What a server has spent on requests. */
export interface Cost {
  /** Time on a processor, in milliseconds, of all its threads. */
  readonly cpuMs: number;
  /** How far resident memory, heap and buffers together, rose above what it was before, in bytes. */
  readonly heapBytes: number;
}

/** What any request may cost, and what each of its bytes may add: some ten times what the dearest sound requests do. */
const cpuMs = { request: 500, byte: 0.02 };
const heapBytes = { request: 128 * 1024 ** 2, byte: 100 };

export const tooMuchCpu = "costs too much time on a processor for its size";
export const tooMuchMemory = "costs too much memory for its size, or others under way with it do";

/** What is wrong with what a request of so many bytes has cost; an empty list when nothing is. */
export function flawsOfCost(cost: Cost, bytes: number): readonly string[] {
  const flaws: string[] = [];
  if (cost.cpuMs > cpuMs.request + bytes * cpuMs.byte) flaws.push(tooMuchCpu);
  if (cost.heapBytes > heapBytes.request + bytes * heapBytes.byte) flaws.push(tooMuchMemory);
  return flaws;
}

/** The lowest of several measurements: what other requests or the collector of garbage added is left out. */
export const lowest = (costs: readonly Cost[]): Cost => ({
  cpuMs: Math.min(...costs.map((cost) => cost.cpuMs)),
  heapBytes: Math.min(...costs.map((cost) => cost.heapBytes)),
});
