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
export const sample = (full: number, short: number): number =>
  ({ short, slice: Math.min(full, short * 4), full })[depth];

/**
 * One of several equal parts of a list; the parts together are the complete list. In a full run each part is
 * the complete list.
 *
 * @param part the number of the part; the seed decides where they begin.
 */
export const share = <T>(rows: readonly T[], part: number, parts: number): readonly T[] =>
  depth === "full" ? rows : rows.filter((_, index) => (index + part + seed) % parts === 0);

/** Of how many parts of the suites a short run has one on PostgreSQL too. */
export const postgresParts = 5;

/**
 * The part that `TEST_POSTGRES` chooses (0 to 4), null for `all`; otherwise by the hash of the commit.
 *
 * @throws Error for another text.
 */
export function postgresPartOf(commit: string, chosen = process.env["TEST_POSTGRES"]): number | null {
  if (chosen === "all") return null;
  if (chosen === undefined) return (Number.parseInt(commit.slice(0, 8), 16) || 0) % postgresParts;
  const part = Number(chosen);
  if (!Number.isInteger(part) || part < 0 || part >= postgresParts)
    throw new Error(`TEST_POSTGRES: must be all or 0 to ${postgresParts - 1}; got ${chosen}`);
  return part;
}
