import { coalesce } from "./coalesce.ts";
import { type LogError, poll, type Sleeper } from "./poll.ts";

/** The limits of work in progress in this process. */
export interface DispatchLimits {
  readonly max: number;
  /** Of one holder, so that a hanging receiver does not delay the work of others. */
  readonly perHolder: number;
}

/** What may begin now. */
export interface Places {
  /** How much more may begin; 0 while the dispatcher drains. */
  readonly free: number;
  /** The holders at their limit. */
  readonly full: readonly string[];
  /** The items that may begin within the limits of their holders, by holder. */
  fitting<T>(items: readonly T[], holderOf: (item: T) => string): readonly T[];
}

/** Work in progress in this process by its holder. */
interface InFlight {
  places(): Places;
  /**
   * Counts work until it has ended. `work` must never reject.
   *
   * @param ended runs when it is no longer counted; `wasFull` is true when other work may have waited for its
   * place.
   */
  add(holder: string, work: Promise<void>, ended: (wasFull: boolean) => void): void;
  /** Resolves when no work is in progress. */
  ended(): Promise<void>;
}

function createInFlight({ max, perHolder }: DispatchLimits): InFlight {
  const counts = new Map<string, number>();
  const all = new Set<Promise<void>>();
  const remaining = (holder: string) => perHolder - (counts.get(holder) ?? 0);

  function remove(holder: string): void {
    const rest = (counts.get(holder) ?? 0) - 1;
    if (rest > 0) counts.set(holder, rest);
    else counts.delete(holder);
  }

  return {
    places: () => ({
      free: max - all.size,
      full: [...counts.keys()].filter((holder) => remaining(holder) <= 0),
      fitting: (items, holderOf) =>
        [...Map.groupBy(items, holderOf)].flatMap(([holder, own]) =>
          own.slice(0, Math.max(0, remaining(holder))),
        ),
    }),
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

/**
 * Signals of work in progress: `stopping` when the dispatcher drains, `aborting` when the time of the drain
 * is over.
 */
export interface DispatchSignals {
  readonly stopping: AbortSignal;
  readonly aborting: AbortSignal;
}

/** Work that is claimed with a lease in rounds, so that one of several processes does it. */
export interface DispatchedWork<Item, Outcome> {
  readonly clock: Sleeper;
  readonly log: LogError;
  /** What the work is about, in the plural, for the log: "deliveries". */
  readonly name: string;
  /** A round begins at least this often, in milliseconds. */
  readonly everyMs: number;
  readonly limits: DispatchLimits;
  holderOf(item: Item): string;
  /**
   * Records the outcomes of attempts that have ended, and claims what `places` allows, if possible in one
   * change. When it rejects, the next round gets the outcomes again.
   *
   * @returns the claimed items, and whether another round must follow at once.
   */
  round(places: Places, outcomes: readonly Outcome[]): Promise<{ taken: readonly Item[]; more: boolean }>;
  /**
   * Does the work. Without an outcome, or when it rejects, nothing is recorded: the item is due again when
   * its lease ends.
   */
  attempt(item: Item, signals: DispatchSignals): Promise<Outcome | undefined>;
  /**
   * Runs when an item is no longer counted, instead of another round; `wasFull` is true when other work may
   * have waited for its place.
   */
  ended?(item: Item, wasFull: boolean): void;
  /** Runs before each round that the time begins. */
  look?(): Promise<void>;
}

export interface Dispatcher {
  /**
   * Begins a round, or another one after the present one. Resolves, also after an error, when it has ended.
   */
  wake(): Promise<void>;
  hasCapacity(): boolean;
  /**
   * Claims nothing more. Work in progress ends, or is aborted after `ms`. Resolves when all outcomes are
   * recorded.
   */
  drain(ms: number): Promise<void>;
}

/** Does work in rounds until it is drained. */
export function startDispatcher<Item, Outcome = never>(work: DispatchedWork<Item, Outcome>): Dispatcher {
  const { clock, log, name, limits } = work;
  const [stopping, aborting] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, aborting: aborting.signal };
  const inFlight = createInFlight(limits);
  let outcomes: Outcome[] = [];
  const wake = coalesce(() =>
    round().catch((cause: unknown) => log("error", `${name} were not taken`, { cause })),
  );

  async function round(): Promise<void> {
    const given = outcomes;
    outcomes = [];
    try {
      const places = inFlight.places();
      const { taken, more } = await work.round(
        stopping.signal.aborted ? { ...places, free: 0 } : places,
        given,
      );
      for (const item of taken) launch(item);
      if (more) void wake();
    } catch (thrown) {
      outcomes = [...given, ...outcomes];
      throw thrown;
    }
  }

  function launch(item: Item): void {
    const attempt = work.attempt(item, signals).then(
      (outcome) => void (outcome !== undefined && outcomes.push(outcome)),
      (cause: unknown) => log("error", `${name} failed`, { cause }),
    );
    inFlight.add(work.holderOf(item), attempt, (wasFull) =>
      work.ended ? work.ended(item, wasFull) : void wake(),
    );
  }

  const looks = poll(
    clock,
    work.everyMs,
    stopping.signal,
    log,
    async () => {
      await work.look?.();
      void wake();
    },
    `the search for ${name}`,
  );

  return {
    wake,
    hasCapacity: () => inFlight.places().free > 0,
    async drain(ms) {
      stopping.abort();
      const waited = new AbortController();
      const timeLimit = clock.sleep(ms, waited.signal).then(
        () => aborting.abort(),
        () => undefined,
      );
      // A round in progress may still begin work; the next one does not.
      await wake();
      await inFlight.ended();
      waited.abort();
      await Promise.all([looks, timeLimit]);
      await wake();
      if (outcomes.length > 0) await wake();
    },
  };
}
