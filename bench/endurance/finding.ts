/** What an endurance test found; `goal` is the most that is wanted. */
export interface Finding {
  readonly figure: string;
  readonly ours: number;
  readonly goal: number;
  readonly [more: string]: unknown;
}
