import { type Caller, lockActiveMember } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import { type Attachment, fileAt, type StoredFile } from "../files/file.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import type { ImportSource } from "./imported-object.ts";
import { type Copied, noteRepeat } from "./imports.ts";
import { keyOf } from "./source.ts";

/** A file of an event at its source. */
export type AttachmentCopy = Pick<Attachment, "type" | "filename" | "contentType">;

interface EventWithFiles {
  /** Its id at the source. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly attachments: readonly AttachmentCopy[];
}

/** The id of an attachment at its source. */
const attachmentId = (eventId: string, index: number): string => `${eventId}/${index}`;

/** The `error` of a file whose bytes are not copied. */
const notCopied = "the file was not copied from the server that its task was imported from";

export const fileIdsOf = (
  events: readonly EventWithFiles[],
  create: () => string,
): readonly (readonly string[])[] => events.map(({ attachments }) => attachments.map(create));

/** Creates the files of imported events, without bytes. */
export async function keepAttachments(
  tx: Tx,
  task: Task,
  {
    origin,
    firstSeq,
    added,
    fileIds,
  }: {
    readonly origin: string;
    readonly firstSeq: number;
    readonly added: readonly EventWithFiles[];
    readonly fileIds: readonly (readonly string[])[];
  },
): Promise<void> {
  const { id: taskId, accountId, spaceId } = task;
  for (const [index, { id, timestamp, attachments }] of added.entries()) {
    for (const [place, { filename, contentType }] of attachments.entries()) {
      const localId = fileIds[index]?.[place] ?? "";
      const key = { accountId, spaceId, origin, kind: "file", sourceId: attachmentId(id, place) } as const;
      const object = {
        ...key,
        localId,
        complete: false,
        seq: firstSeq + index,
        taskId,
        createdAt: timestamp,
      };
      // An id that the source uses twice is refused: the second file would never get its bytes.
      if (!(await tx.imports.insert(object)))
        throw new Failure("already_exists", `events[${index}].id: another event of this source has the id`, {
          path: `events[${index}].id`,
        });
      await tx.files.insert(emptyFile(localId, task, { filename, contentType, createdAt: timestamp }));
    }
  }
}

/** A file of a task before its bytes are copied. */
const emptyFile = (
  id: string,
  { id: taskId, accountId, spaceId }: Task,
  { filename, contentType, createdAt }: Pick<StoredFile, "filename" | "contentType" | "createdAt">,
): StoredFile => ({
  id,
  accountId,
  spaceId,
  clientId: null,
  apiKeyId: null,
  taskId,
  filename,
  contentType,
  createdAt,
  status: "error",
  error: notCopied,
  blobId: null,
  bytes: null,
  sha256: null,
  uploadUntil: createdAt,
  expiresAt: null,
  deletedAt: null,
});

/** Copies the bytes of files of another server (spec/api.md 8.95). */
export interface ImportedFiles {
  /**
   * Gives an attachment the bytes of an upload of the caller, which is used up.
   *
   * @throws Failure `not_found`, `failed_precondition` for an upload without bytes.
   */
  file(tx: Tx, caller: Caller, source: ImportSource, uploadId: string): Promise<Copied>;
}

export function importedFiles(clock: Pick<Clock, "now">): ImportedFiles {
  return {
    async file(tx, caller, source, uploadId) {
      const key = keyOf(caller, "file", source);
      await lockActiveMember(tx, caller);
      const object = await tx.imports.lock(key);
      if (object === null || object.taskId === null) throw notFound("attachment", "source.id");
      if (object.complete) return noteRepeat(tx, object.localId, source);
      const now = clock.now();
      const upload = await tx.files.find(caller, uploadId);
      if (upload === null || fileAt(upload, now).status === "deleted") throw notFound("file", "file_id");
      const adopted = await tx.files.adoptUpload(caller, { uploadId, fileId: object.localId }, now);
      if (adopted === "no upload")
        throw new Failure("failed_precondition", "file_id: the upload has no bytes", { path: "file_id" });
      if (adopted === "no file") throw notFound("attachment", "source.id");
      await tx.blobs.releaseQuota(adopted.blobId);
      await tx.events.setAttachmentBytes(object.taskId, object.seq, object.localId, adopted.bytes);
      await tx.imports.update(key, { complete: true });
      tx.audit.note({ subject: object.localId, after: { importedFrom: source, bytes: adopted.bytes } });
      return { id: object.localId, created: true };
    },
  };
}
