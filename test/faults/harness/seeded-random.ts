/**
 * Random numbers from a seed: the same seed gives the same numbers. The timing between processes stays
 * random.
 */
export interface SeededRandom {
  /** From 0 up to `n`, exclusive. */
  below(n: number): number;
  /** Any number between the two, for times. */
  between(min: number, max: number): number;
  chance(share: number): boolean;
  /** @throws Error when there is nothing to pick from. */
  pick<T>(items: readonly T[]): T;
  /** A separate random source, independent of the use of others. */
  fork(name: string): SeededRandom;
}

/** mulberry32 over a hash of the seed: small, and sufficient to vary a test. */
export function seededRandom(seed: string): SeededRandom {
  let state = [...seed].reduce(
    (hash, character) => Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619),
    2_166_136_261,
  );

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    between: (min, max) => min + next() * (max - min),
    chance: (share) => next() < share,
    pick(items) {
      if (items.length === 0) throw new Error("nothing to pick from");
      // The index is in range.
      return items[below(items.length)] as (typeof items)[number];
    },
    fork: (name) => seededRandom(`${seed}/${name}`),
  };
}
