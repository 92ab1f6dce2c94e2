/**
 * The depth of tests. `npm test` is `short`: slow families run a small sample by a fixed seed.
 * `npm run test:deep` is `full`, or with `--minutes` a `slice`: larger samples by a random seed.
 */
export type Depth = "short" | "slice" | "full";

const depths: Readonly<Record<string, Depth>> = { slice: "slice", full: "full" };
export const depth: Depth = depths[process.env["TEST_DEPTH"] ?? ""] ?? "short";

/** The start of every random choice in a test; the same seed makes the same choices. */
export const seed = Number(process.env["TEST_SEED"] ?? 1);

/** How many rounds, runs or rows a test uses; a slice uses four times as many as `npm test`. */
export const sample = (full: number, short: number): number => ({ short, slice: Math.min(full, short * 4), full })[depth];

/**
 * One of several equal parts of a list; the parts together are the complete list. In a full run each part is the complete list.
 *
 * @param part the number of the part; the seed decides where they begin.
 */
export const share = <T>(rows: readonly T[], part: number, parts: number): readonly T[] =>
  depth === "full" ? rows : rows.filter((_, index) => (index + part + seed) % parts === 0);
