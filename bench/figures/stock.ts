/** A queue of items that calls use up, oldest first, or put back. */
export interface Stock<T> {
  /** Takes the oldest item. @throws Error if the stock is empty: `fill` it with more. */
  take(): T;
  put(item: T): void;
  /** Makes the missing items. */
  fill(): Promise<void>;
}

/** Items per batch: a larger change could exceed the time limit of changes. */
const batchMax = 2_000;

/** A stock that is filled to `size` items. */
export function stock<T>(size: number, make: (count: number) => Promise<readonly T[]>): Stock<T> {
  const items: T[] = [];
  return {
    take() {
      const item = items.shift();
      if (item === undefined) throw new Error(`${size} were not enough for a round`);
      return item;
    },
    put: (item) => void items.push(item),
    async fill() {
      while (items.length < size) items.push(...(await make(Math.min(batchMax, size - items.length))));
    },
  };
}
