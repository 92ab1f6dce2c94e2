/** What may be held at a time: in all, and by each holder. */
export interface BudgetLimits {
  readonly inAll: number;
  readonly each: number;
}

/** Counts amounts (bytes, connections, requests) that are held at a time, by holder. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #byHolder = new Map<string, number>();
  #held = 0;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
  }

  /** The amount that all holders have together. */
  get held(): number {
    return this.#held;
  }

  /** How many holders hold more than zero. */
  get holders(): number {
    return this.#byHolder.size;
  }

  /** Takes an amount for a holder; false, and nothing is taken, when it would go beyond a limit. */
  take(holder: string, amount: number): boolean {
    const own = (this.#byHolder.get(holder) ?? 0) + amount;
    if (own > this.limits.each || this.#held + amount > this.limits.inAll) return false;
    this.#set(holder, own);
    this.#held += amount;
    return true;
  }

  /** Gives back what was taken for a holder, or a part of it. */
  give(holder: string, amount: number): void {
    this.#set(holder, (this.#byHolder.get(holder) ?? 0) - amount);
    this.#held -= amount;
  }

  #set(holder: string, own: number): void {
    if (own === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, own);
  }
}
