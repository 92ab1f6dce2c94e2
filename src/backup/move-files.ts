import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { RowKey } from "../core/installation/transfer.ts";
import type { Store } from "../core/store.ts";
import { meter } from "./folder.ts";
import { type Progress, progressSetting } from "./move-progress.ts";

export interface Storages {
  readonly from: Pick<Blobs, "read">;
  readonly to: Pick<Blobs, "put" | "read">;
}

const pageBytes = 64 * 1024;

/** Copies the bytes of all files that the target names. The next run continues after the last one. */
export async function copyFiles(
  storages: Storages,
  target: Store,
  begun: Progress,
  onFile: (progress: Progress) => void,
): Promise<Progress> {
  let progress = begun;
  for (
    let after: RowKey | null | undefined = begun.blob === "" ? undefined : [begun.blob];
    after !== null;
  ) {
    const page = await target.transfer.page("blob", after ?? null, pageBytes);
    for (const { id } of page.rows.filter(({ state }) => state === "kept")) {
      const blob = String(id);
      const bytes = await copyBlob(storages, blob);
      const next = { ...progress, blob, files: progress.files + 1, bytes: progress.bytes + bytes };
      await target.change((tx) => tx.settings.put(progressSetting, JSON.stringify(next)));
      progress = next;
      onFile(progress);
    }
    after = page.last;
  }
  return progress;
}

/**
 * Copies the bytes of a file, and reads the copy. Returns their number.
 *
 * @throws Failure `failed_precondition` when the copy has another sum
 */
async function copyBlob({ from, to }: Storages, id: string): Promise<number> {
  const { stream, result } = meter();
  const copying = pipeline(await from.read(id), stream);
  await Promise.all([to.put(id, stream, new AbortController().signal), copying]);
  const original = result();
  const hash = createHash("sha256");
  for await (const chunk of await to.read(id)) hash.update(chunk);
  if (hash.digest("hex") !== original.sha256)
    throw new Failure("failed_precondition", `the copy of a file has another sum than the file: ${id}`);
  return original.bytes;
}
