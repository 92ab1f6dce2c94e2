/** How far an export is (contract/enterprise.md 6.6). */
export const exportStatuses = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type ExportStatus = (typeof exportStatuses)[number];

/**
 * The life of an export (contract/enterprise.md 6.6):
 *
 *      pending ──claim──▶ processing ──complete──▶ completed ──30 days──▶ purged (still `completed`)
 *         │               │  ▲ │ └────fail──────▶ failed
 *         └────cancel─────┤  └─┘ claim, once its holder gave it back or let the lease run out
 *                         └─────cancel──────────▶ cancelled
 *
 * There is no way back: whoever gives an export back leaves it `processing`, without a lease.
 */
export const exportSteps = {
  claim: { from: ["pending", "processing"], to: "processing" },
  complete: { from: ["processing"], to: "completed" },
  fail: { from: ["processing"], to: "failed" },
  cancel: { from: ["pending", "processing"], to: "cancelled" },
} as const satisfies Record<string, ExportStep>;

/** What may happen to an export, and where it leads. */
export interface ExportStep {
  readonly from: readonly ExportStatus[];
  readonly to: ExportStatus;
}

/** How long an archive is kept after its completion, in milliseconds (contract/enterprise.md 6.5). */
export const archiveMs = 30 * 24 * 3_600_000;

/** Whether an archive is gone, or is to be: its time counts, however late the sweep comes. */
export const isPurged = (of: { readonly completedAt: number | null; readonly purgedAt: number | null }, now: number): boolean =>
  of.purgedAt !== null || (of.completedAt !== null && of.completedAt + archiveMs <= now);
