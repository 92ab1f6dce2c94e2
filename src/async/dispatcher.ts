/** The limits of work in progress in this process. */
export interface InFlightLimits {
  readonly max: number;
  /** Of one holder, so that a hanging receiver does not delay the work of others. */
  readonly perHolder: number;
}

/** Work in progress in this process, for instance attempts of deliveries, by its holder. */
export interface InFlight {
  /** How much more may begin. */
  readonly free: number;
  /** The holders at their limit. */
  full(): readonly string[];
  /** The items that may begin within the limits of their holders, by holder. */
  fitting<T>(items: readonly T[], holderOf: (item: T) => string): readonly T[];
  /**
   * Counts work until it has ended. `work` must never reject.
   *
   * @param ended runs when it is no longer counted; `wasFull` is true when other work may have waited for its place.
   */
  add(holder: string, work: Promise<void>, ended: (wasFull: boolean) => void): void;
  /** Resolves when no work is in progress. */
  ended(): Promise<void>;
}

export function createInFlight({ max, perHolder }: InFlightLimits): InFlight {
  const counts = new Map<string, number>();
  const all = new Set<Promise<void>>();
  const remaining = (holder: string) => perHolder - (counts.get(holder) ?? 0);

  function remove(holder: string): void {
    const rest = (counts.get(holder) ?? 0) - 1;
    if (rest > 0) counts.set(holder, rest);
    else counts.delete(holder);
  }

  return {
    get free() {
      return max - all.size;
    },
    full: () => [...counts.keys()].filter((holder) => remaining(holder) <= 0),
    fitting: (items, holderOf) =>
      [...Map.groupBy(items, holderOf)].flatMap(([holder, own]) => own.slice(0, Math.max(0, remaining(holder)))),
    add(holder, work, ended) {
      counts.set(holder, (counts.get(holder) ?? 0) + 1);
      const counted = work.finally(() => {
        const wasFull = all.size >= max || remaining(holder) <= 0;
        all.delete(counted);
        remove(holder);
        ended(wasFull);
      });
      all.add(counted);
    },
    async ended() {
      while (all.size > 0) await Promise.all(all);
    },
  };
}

/** What ends with a dispatcher, which claims work in rounds and does it. */
export interface Dispatching {
  readonly clock: { sleep(ms: number, signal: AbortSignal): Promise<void> };
  /** No more work begins. */
  readonly stopping: AbortController;
  /** Ends the work in progress. */
  readonly aborting: AbortController;
  readonly inFlight: Pick<InFlight, "ended">;
  nextRound(): Promise<void>;
  /** The poll that begins rounds. */
  readonly looks: Promise<void>;
}

/** Begins no more work. Work in progress ends, or is aborted after `ms`. */
export async function drain({ clock, stopping, aborting, inFlight, nextRound, looks }: Dispatching, ms: number): Promise<void> {
  stopping.abort();
  const waited = new AbortController();
  const timeLimit = clock.sleep(ms, waited.signal).then(
    () => aborting.abort(),
    () => undefined,
  );
  // A round in progress may still begin work; the next one does not.
  await nextRound();
  await inFlight.ended();
  waited.abort();
  await Promise.all([looks, timeLimit]);
}
