/** The value below which this part (0 to 1) of the sorted values is; 0 for an empty list. */
export const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

/** The middle value, or the mean of the two middle values; 0 for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const above = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? above : ((sorted[middle - 1] ?? 0) + above) / 2;
}

/** The values below which a quarter and three quarters of the values are. */
export function quartiles(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return [0.25, 0.75].map((part) => percentile(sorted, part));
}

/** The minimum and the maximum. */
export const spread = (values: readonly number[]): readonly [least: number, greatest: number] => [
  Math.min(...values),
  Math.max(...values),
];

/** Rounds to three significant digits, the precision of measurements on a busy machine. */
export const roundSignificant = (value: number): number => Number(value.toPrecision(3));
