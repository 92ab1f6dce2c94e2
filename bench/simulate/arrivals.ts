/** A source of numbers from 0 to 1 that a seed determines (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Action = "create" | "send" | "detail" | "list";

/** The part of each action in all calls. */
const shares: readonly (readonly [Action, number])[] = [
  ["create", 0.3],
  ["send", 0.1],
  ["detail", 0.35],
  ["list", 0.25],
];

/** One call of one person, at a time of the day that does not depend on earlier answers. */
export interface Arrival {
  /** Milliseconds from the beginning of the day. */
  readonly at: number;
  /** The number of the person. */
  readonly person: number;
  readonly action: Action;
}

/** A day in short. */
export interface Day {
  readonly people: number;
  /** Calls per second at its peak; at night there is a quarter. */
  readonly peak: number;
  readonly seconds: number;
  readonly seed: number;
}

/** The rate at a time of the day, as a part of its peak. */
export const intensity = (part: number): number => 0.25 + 0.75 * Math.sin(Math.PI * part) ** 2;

/**
 * All calls of a day, in order: a Poisson process whose rate follows the day. Few people make most of the
 * calls: the person is the power of a uniform number, so that half of the calls come from the most active 0.1
 * % of the people.
 */
export function arrivalsOf({ people, peak, seconds, seed }: Day): Arrival[] {
  const random = randomFrom(seed);
  const arrivals: Arrival[] = [];
  for (let at = 0; ; ) {
    at += (-Math.log(1 - random()) / peak) * 1000;
    if (at >= seconds * 1000) return arrivals;
    const isKept = random() < intensity(at / (seconds * 1000));
    const [person, choice] = [Math.floor(people * random() ** 10), random()];
    if (isKept) arrivals.push({ at, person, action: actionAt(choice) });
  }
}

function actionAt(choice: number): Action {
  let sum = 0;
  for (const [action, share] of shares) {
    sum += share;
    if (choice < sum) return action;
  }
  return "list";
}
