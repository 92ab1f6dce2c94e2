import { appOf, keyOf } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import { createFileId, keptMs, type StoredFile } from "./file.ts";
import type { FileName, Staged, Staging } from "./staging.ts";
import { uploadAbandoned, type Writer } from "./writer.ts";

/** How long staged bytes wait for the change that keeps them, in milliseconds. */
const waitMs = 5 * 60_000;

export interface StagingParts {
  /** Runs changes that wait for an account's total of bytes. */
  readonly changeBytes: Store["change"];
  readonly writer: Writer;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
}

/** Stages bytes, and keeps them as files in a later change. */
export function staging({ changeBytes, writer, clock, ids }: StagingParts): Staging {
  async function insert(
    tx: Tx,
    owner: Owner,
    { blobId, bytes, sha256 }: Staged,
    name: FileName,
    forMs: number | null,
  ): Promise<StoredFile> {
    if (!(await tx.blobs.keep(blobId))) throw uploadAbandoned();
    const now = clock.now();
    const file: StoredFile = {
      id: createFileId(ids),
      ...owner,
      filename: name.filename,
      contentType: name.contentType,
      status: "uploaded",
      blobId,
      bytes,
      sha256,
      error: null,
      createdAt: now,
      uploadUntil: now,
      expiresAt: forMs === null ? null : now + forMs,
      deletedAt: null,
    };
    await tx.files.insert(file);
    return file;
  }

  return {
    async stage(bytes, { accountId, max, signal }) {
      try {
        const written = await writer.write({ bytes, length: null, accountId, max, signal });
        await changeBytes((tx) => writer.settle(tx, written, clock.now() + waitMs));
        return { blobId: written.blobId, bytes: written.bytes, sha256: written.sha256 };
      } finally {
        bytes.destroy();
      }
    },
    discard: ({ blobId }) => writer.discard(blobId),
    keep(tx, caller, staged, name) {
      const { accountId, spaceId } = caller;
      return insert(
        tx,
        { accountId, spaceId, clientId: appOf(caller), apiKeyId: keyOf(caller), taskId: null },
        staged,
        name,
        keptMs,
      );
    },
    keepArtifact(tx, { id, accountId, spaceId, clientId }, staged, name) {
      return insert(tx, { accountId, spaceId, clientId, apiKeyId: null, taskId: id }, staged, name, null);
    },
  };
}

type Owner = Pick<StoredFile, "accountId" | "spaceId" | "clientId" | "apiKeyId" | "taskId">;
