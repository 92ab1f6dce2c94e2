import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { ExportKind, ExportOf } from "./export.ts";
import { requireExport } from "./links.ts";

/** The reference to an export: its kind and its space decide whether the caller may find it. */
interface ExportRef<K extends ExportKind> {
  readonly kind: K;
  readonly spaceId: string;
  readonly id: string;
}

/**
 * Cancels an export; a cancelled one stays as it is. The process that works on it stops within seconds.
 *
 * @throws Failure `not_found`, `failed_precondition` for an export that is completed or failed.
 */
export async function cancelRequested<K extends ExportKind>(
  tx: Tx,
  { kind, spaceId, id }: ExportRef<K>,
  now: number,
): Promise<ExportOf<K>> {
  const before = await requireExport(tx, kind, spaceId, id);
  await tx.exports.cancel(id, now);
  // It may have ended since it was read.
  const after = await requireExport(tx, kind, spaceId, id);
  if (after.status !== "cancelled")
    throw new Failure("failed_precondition", `the export has ended: it is ${after.status}`);
  tx.audit.note({ subject: id, before: { status: before.status }, after: { status: after.status } });
  return after;
}

/**
 * Deletes an export that has ended, and drops its archive: its links are invalid at once, and the sweep
 * deletes its bytes.
 *
 * @throws Failure `not_found`, `failed_precondition` for an export that has not ended.
 */
export async function deleteEnded<K extends ExportKind>(
  tx: Tx,
  { kind, spaceId, id }: ExportRef<K>,
): Promise<void> {
  const { status } = await requireExport(tx, kind, spaceId, id);
  const blobs = await tx.exports.remove(id);
  if (blobs === null) {
    // Another call may have deleted it since it was read.
    await requireExport(tx, kind, spaceId, id);
    throw new Failure("failed_precondition", "the export has not ended: cancel it first");
  }
  await tx.blobs.drop(blobs);
  tx.audit.note({ subject: id, before: { status } });
}
