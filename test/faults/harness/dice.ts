/** Chance from a seed: the same seed throws the same dice. What happens between processes stays by chance. */
export interface Dice {
  /** From 0 up to `n`, without it. */
  below(n: number): number;
  /** Any number between the two, for times. */
  between(min: number, max: number): number;
  chance(share: number): boolean;
  /** @throws Error when there is nothing to pick from. */
  pick<T>(items: readonly T[]): T;
  /** Dice of somebody's own: who throws first elsewhere does not matter to them. */
  fork(name: string): Dice;
}

/** mulberry32 over a hash of the seed: small, and good enough to vary a test. */
export function diceOf(seed: string): Dice {
  let state = [...seed].reduce((hash, character) => Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619), 2_166_136_261);

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
      // The index is within.
      return items[below(items.length)] as (typeof items)[number];
    },
    fork: (name) => diceOf(`${seed}/${name}`),
  };
}
