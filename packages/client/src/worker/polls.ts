import type { Run } from "../generated/worker.ts";

/** A place for a run. */
interface Slot {
  readonly resolve: (run: Run | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The most runs of one Poll. */
const runsMax = 32;

/**
 * Shares polls: slots that are free while a poll is held are served by the next one, so that one call at a
 * time asks for as many runs as there are free slots.
 *
 * @param poll waits for at most `max` runs. Returns none at the end of its time.
 * @returns a function that waits for a run; undefined when a poll has ended without one.
 */
export function sharePolls(poll: (max: number) => Promise<readonly Run[]>): () => Promise<Run | undefined> {
  let free: Slot[] = [];
  let isPolling = false;

  async function pollOnce(): Promise<void> {
    // Slots of the same moment share a poll.
    await Promise.resolve();
    const slots = free.splice(0, runsMax);
    try {
      const runs = await poll(slots.length);
      // With a run for some, the others ask again; without one, all may stop.
      const served = runs.length === 0 ? slots : slots.splice(0, runs.length);
      for (const [index, slot] of served.entries()) slot.resolve(runs[index]);
      if (runs.length > 0) free = [...slots, ...free];
    } catch (error) {
      for (const slot of slots) slot.reject(error);
    }
  }

  async function pollAll(): Promise<void> {
    isPolling = true;
    while (free.length > 0) await pollOnce();
    isPolling = false;
  }

  return () =>
    new Promise((resolve, reject) => {
      free.push({ resolve, reject });
      if (!isPolling) void pollAll();
    });
}
