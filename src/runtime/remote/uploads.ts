import { Readable } from "node:stream";
import { absent, invalid } from "../../core/failure.ts";
import { asOf, fileId, keptMs, type StoredFile } from "../../core/files/file.ts";
import { checkFilename } from "../../core/files/filename.ts";
import type { FileLinks } from "../../core/files/links.ts";
import { overQuota } from "../../core/files/quota.ts";
import type { Staging } from "../../core/files/staging.ts";
import { givenUp } from "../../core/files/writer.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { SentFile } from "../../core/workers/remote-run.ts";
import type { StagedFile } from "../artefacts.ts";
import type { EndingParts } from "../ending.ts";
import type { OpenSite } from "./sites.ts";

/** Bytes that may come within a call. */
const inlineMax = 1024 * 1024;
/** A PUT has to begin within this, in milliseconds. */
const windowMs = 3 * 60_000;

/** What files of runs need of their surroundings. */
export interface UploadParts extends EndingParts {
  readonly links: Pick<FileLinks, "upload">;
  readonly openSite: OpenSite;
  /** Bytes of what one worker has uploaded and not shown. */
  readonly quota: number;
}

/** Makes a file of a run: it is the worker's, and the task's, until it is shown or its 48 hours are over. */
export async function openUpload(
  parts: UploadParts,
  task: Task,
  workerId: string,
  { filename, contentType, content, signal }: SentFile,
): Promise<{ readonly uploadId: string; readonly url: string | null }> {
  const { store, clock, ids, links, quota } = parts;
  if (content !== null && content.length > inlineMax) throw invalid("content", "must be at most 1 MiB: PUT what is larger");
  // The window ends with a whole second, as its address can say.
  const uploadUntil = Math.ceil(clock.now() / 1000) * 1000 + windowMs;
  const slot: StoredFile = {
    ...{ id: fileId(ids), accountId: workerId, spaceId: task.spaceId, clientId: null, taskId: task.id },
    ...{ filename: checkFilename(filename), contentType, status: "pending", blobId: null, bytes: null, sha256: null, error: null },
    ...{ createdAt: clock.now(), uploadUntil, expiresAt: null, deletedAt: null },
  };
  if (content !== null) {
    await keepInline(parts, slot, content, signal);
    return { uploadId: slot.id, url: null };
  }
  await store.change(async (tx) => {
    if ((await tx.blobs.used(workerId)) >= quota) throw overQuota(quota);
    await tx.files.insert(slot);
  });
  return { uploadId: slot.id, url: links.upload(slot.id, uploadUntil) };
}

async function keepInline(
  { store, clock, staging }: UploadParts,
  slot: StoredFile,
  content: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Readable.from([content], { objectMode: false });
  const staged = await staging.stage(bytes, { accountId: slot.accountId, max: inlineMax, signal });
  const file: StoredFile = { ...slot, ...staged, status: "uploaded", expiresAt: clock.now() + keptMs };
  await store.change(async (tx) => {
    if (!(await tx.blobs.keep(staged.blobId))) throw givenUp();
    await tx.files.insert(fileOf(file));
  });
}

/** Without what only a staged file has. */
const fileOf = ({ id, accountId, spaceId, clientId, taskId, filename, contentType, status, ...rest }: StoredFile): StoredFile => ({
  ...{ id, accountId, spaceId, clientId, taskId, filename, contentType, status },
  ...{ blobId: rest.blobId, bytes: rest.bytes, sha256: rest.sha256, error: rest.error },
  ...{ createdAt: rest.createdAt, uploadUntil: rest.uploadUntil, expiresAt: rest.expiresAt, deletedAt: rest.deletedAt },
});

/** What a worker has uploaded for this task. @throws Failure `absent` for what is not there, not yet or not any more. */
export async function uploadsOf(
  store: Tx,
  now: number,
  task: Task,
  workerId: string,
  uploadIds: readonly string[],
): Promise<readonly StagedFile[]> {
  const found: StagedFile[] = [];
  for (const id of uploadIds) found.push(await uploadOf(store, now, task, workerId, id));
  return found;
}

/** One of them. @throws Failure `absent` as `uploadsOf`. */
export async function uploadOf(store: Tx, now: number, task: Task, workerId: string, id: string): Promise<StagedFile> {
  const { blobId, bytes, sha256, filename, contentType } = own(await store.files.byId(id), task, workerId, now);
  return { staged: { blobId, bytes, sha256 }, name: { filename, contentType } };
}

function own(file: StoredFile | null, task: Task, workerId: string, now: number) {
  if (file === null || file.accountId !== workerId || file.taskId !== task.id) throw absent("upload");
  const { status, blobId, bytes, sha256, filename, contentType } = asOf(file, now);
  if (status !== "uploaded" || blobId === null || bytes === null || sha256 === null) throw absent("upload");
  return { blobId, bytes, sha256, filename, contentType };
}

/** Erases what a worker has uploaded for this task, as it is used up. @throws Failure `absent` as `uploadsOf`. */
export async function useUp(tx: Tx, now: number, task: Pick<Task, "id">, workerId: string, uploadId: string): Promise<void> {
  const blobId = await tx.files.take({ id: uploadId, taskId: task.id, from: workerId }, now);
  if (blobId === null) throw absent("upload");
  await tx.blobs.drop([blobId]);
}

/** Staging that knows a worker's files: what it keeps is there already, and changes hands. */
export const adopting = ({ staging, clock }: Pick<EndingParts, "staging" | "clock">, workerId: string): Staging => ({
  ...staging,
  async keepArtefact(tx, { id: taskId, accountId, clientId }, { blobId }) {
    const file = await tx.files.adopt({ blobId, taskId, from: workerId }, { accountId, clientId }, clock.now());
    if (!file) throw absent("upload");
    await tx.blobs.free(blobId);
    return file;
  },
});
