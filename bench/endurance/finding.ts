/** The result of an endurance test; `goal` is the accepted maximum. */
export interface Finding {
  readonly figure: string;
  readonly ours: number;
  readonly goal: number;
  readonly [more: string]: unknown;
}
