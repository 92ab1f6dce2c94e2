import type { Mistake } from "../core/failure.ts";

/** A path below a step: `a` and `b` are `a.b`, `a` and `[0]` are `a[0]`. */
export const joinPath = (step: string, path: string): string =>
  path === "" || path.startsWith("[") ? step + path : `${step}.${path}`;

/** The step to a map's entry. A long key is cut: the path names a place and does not copy the input. */
export const keyStep = (key: string): string =>
  `[${JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)}]`;

/** At most this many mistakes of a request are reported (spec/api.md 8.88). */
const mistakesMax = 20;

/**
 * The mistakes of a request. Each level of a message adds its step to the mistakes that were found below it,
 * so that valid values track no path.
 */
export class Mistakes {
  readonly #all: Mistake[] = [];
  #isOver = false;

  get all(): readonly Mistake[] {
    return this.#all;
  }

  get count(): number {
    return this.#all.length;
  }

  /** Whether the search is over. */
  get isFull(): boolean {
    return this.#isOver || this.#all.length >= mistakesMax;
  }

  /** Ends the search, because the rest of it would take too long. */
  end(): void {
    this.#isOver = true;
  }

  add(mistake: Mistake): void {
    if (!this.isFull) this.#all.push(mistake);
  }

  /**
   * Adds a mistake, unless a known one is about the same value, a value inside of it, or a value around it: a
   * wrong value is reported once.
   */
  addBeside(mistake: Mistake, known: readonly Mistake[]): void {
    if (!known.some(({ path }) => isWithin(path, mistake.path) || isWithin(mistake.path, path)))
      this.add(mistake);
  }

  /** Adds a step to the paths of all mistakes from this index on. */
  place(from: number, step: string): void {
    for (let index = from; index < this.#all.length; index++) {
      const { path, rule } = this.#all[index] ?? { path: "", rule: "" };
      this.#all[index] = { path: joinPath(step, path), rule };
    }
  }
}

/** Whether a path is the same as another, or below it. */
const isWithin = (path: string, outer: string): boolean =>
  outer === "" ||
  (path.startsWith(outer) &&
    (path.length === outer.length || path[outer.length] === "." || path[outer.length] === "["));
