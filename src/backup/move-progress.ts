import { z } from "zod";
import { Failure } from "../core/failure.ts";
import type { RowKey } from "../core/installation/transfer.ts";

/** How far a move is. The target has it as a setting, which the change of each batch writes. */
const progressSchema = z.strictObject({
  /** The id of the move, which the source has too. */
  id: z.string(),
  tables: z.array(z.string()),
  /** The key of the last row that was copied of the next table; null: none. */
  after: z.array(z.union([z.string(), z.int()])).nullable(),
  rows: z.int().nonnegative(),
  /** The id of the last blob that was copied; empty: none. */
  blob: z.string(),
  files: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
});

export type Progress = Readonly<Omit<z.output<typeof progressSchema>, "after">> & {
  readonly after: RowKey | null;
};

/** The setting in which the target has its progress. */
export const progressSetting = "moved-from";

/** @throws Failure `failed_precondition` for progress of another form, as another release may have it */
export function parseProgress(stored: string): Progress {
  try {
    return progressSchema.parse(JSON.parse(stored));
  } catch {
    throw new Failure(
      "failed_precondition",
      "the begun move is of another release: empty the target, and move again",
    );
  }
}

export const firstProgress = (id: string): Progress => ({
  id,
  tables: [],
  after: null,
  rows: 0,
  blob: "",
  files: 0,
  bytes: 0,
});
