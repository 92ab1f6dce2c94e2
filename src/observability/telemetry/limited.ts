/** Receives the number of spans or lines that were not exported, and why. */
export type Dropped = (signal: "traces" | "logs", count: number, cause: string) => void;

/** Spans or lines that wait for their export or are being exported, at most. */
const waitingMax = 2_048;

/** The limits of exports. A request, with its retries, ends before the SDK would give it up. */
export const exportLimits = {
  request: { timeoutMillis: 10_000, concurrencyLimit: 4 },
  batch: {
    maxQueueSize: waitingMax,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 1_000,
    exportTimeoutMillis: 15_000,
  },
  record: { attributeCountLimit: 32, attributeValueLengthLimit: 1_024 },
} as const;

interface Exporter<Item, Result> {
  export(items: Item[], done: (result: Result) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

/** An exporter that counts what waits, and reports what it drops. */
export interface Limited<E> {
  readonly exporter: E;
  /** False when too much waits: the item must be dropped. */
  admit(): boolean;
}

/**
 * @param dropped receives the cause as a short text without an answer of the collector, which may repeat
 * headers.
 */
export function limited<Item, Result extends { code: number; error?: Error }>(
  exporter: Exporter<Item, Result>,
  dropped: (count: number, cause: string) => void,
): Limited<Required<Exporter<Item, Result>>> {
  let waiting = 0;
  return {
    exporter: {
      export(items, done) {
        exporter.export(items, (result) => {
          waiting -= items.length;
          if (result.code !== 0) dropped(items.length, causeOf(result.error));
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    },
    admit() {
      if (waiting >= waitingMax) {
        dropped(1, "too many wait");
        return false;
      }
      waiting += 1;
      return true;
    },
  };
}

/** `ECONNREFUSED`, `401`, or the name of the error. */
function causeOf(error: (Error & { code?: unknown; cause?: unknown }) | undefined): string {
  const inner = error?.cause instanceof Error ? (error.cause as Error & { code?: unknown }) : error;
  const code = inner?.code ?? error?.code;
  return typeof code === "string" || typeof code === "number" ? String(code) : (error?.name ?? "unknown");
}
