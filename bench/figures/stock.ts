/** What calls use up, the oldest first, or put back. */
export interface Stock<T> {
  /** @throws Error when there is none left: `fill` it to more. */
  take(): T;
  put(item: T): void;
  /** Makes what is missing. */
  fill(): Promise<void>;
}

/** So many are made at a time: a change that makes more may be given up for its length. */
const madeMax = 2_000;

/** A stock that is filled to so many. */
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
      while (items.length < size) items.push(...(await make(Math.min(madeMax, size - items.length))));
    },
  };
}
