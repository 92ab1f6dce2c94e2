import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { mutex } from "../../async/limit.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure, invalidArgument, notFound, renameField } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { createFileId, fileAt, keptMs, overQuota, type StoredFile } from "../../core/files/file.ts";
import { checkFilename } from "../../core/files/filename.ts";
import type { FileLinks } from "../../core/files/links.ts";
import type { Staged, Staging } from "../../core/files/staging.ts";
import { uploadAbandoned } from "../../core/files/writer.ts";
import type { SkillFile } from "../../core/skills/files.ts";
import { archiveBytesMax, unzip } from "../../core/skills/unzip.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import { checkSite } from "../../core/websites/checkpoint.ts";
import type { SentFile, SentSite } from "../../core/workers/remote-run.ts";
import { baseName } from "../../core/workspaces/workspace.ts";
import type { NewSite } from "../agent.ts";
import type { StagedFile } from "../artifacts.ts";
import type { EndingParts } from "../ending.ts";

/**
 * Reads the website in a worker's ZIP and stages its files: the change that writes its event keeps them.
 *
 * @throws Failure `invalid_argument` for a ZIP that breaks a rule for skills' ZIPs, and for files that a
 * website may not have.
 */
type OpenSite = (site: Omit<SentSite, "uploadId">, archive: Staged) => Promise<NewSite<StagedFile>>;

export function createSiteOpener({
  staging,
  blobs,
}: {
  readonly staging: Pick<Staging, "stage">;
  readonly blobs: Pick<Blobs, "read">;
}): OpenSite {
  // One at a time, because the ZIP and all its files are in memory.
  const exclusive = mutex();

  async function stage({ path, bytes }: SkillFile): Promise<NewSite<StagedFile>["files"][number]> {
    const to = { accountId: null, max: bytes.byteLength, signal: new AbortController().signal };
    const staged = await staging.stage(Readable.from([bytes], { objectMode: false }), to);
    return { path, file: { staged, name: { filename: baseName(path), contentType: "" } } };
  }

  return ({ at, title, message }, { blobId, bytes }) =>
    exclusive(async () => {
      if (bytes > archiveBytesMax)
        throw invalidArgument(`${at}.upload_id`, "a ZIP of a website has at most 50 MB");
      const unzipped = await unzip(`${at}.upload_id`, await buffer(await blobs.read(blobId)), "website");
      checkSiteAt(
        {
          title,
          message,
          files: unzipped.map(({ path, bytes: content }) => ({ path, bytes: content.byteLength })),
        },
        at,
      );
      const files = [];
      for (const file of unzipped) files.push(await stage(file));
      return { title, message, files };
    });
}

function checkSiteAt(site: Parameters<typeof checkSite>[0], at: string): void {
  try {
    checkSite(site);
  } catch (thrown) {
    throw thrown instanceof Failure
      ? renameField(thrown, (path) => `${at}.${path === "files" ? "upload_id" : path}`)
      : thrown;
  }
}

/** The most bytes that a call itself may contain. */
const inlineMax = 1024 * 1024;
/** The time within which a PUT has to begin, in milliseconds. */
const windowMs = 3 * 60_000;

export interface UploadParts extends EndingParts {
  readonly links: Pick<FileLinks, "upload">;
  readonly openSite: OpenSite;
  /** The most bytes that a worker may have uploaded without using them in an event. */
  readonly quota: number;
}

/**
 * Creates an upload of a run. It belongs to the worker and the task until an event uses it or its 48 hours
 * are over.
 */
export async function openUpload(
  parts: UploadParts,
  task: Task,
  workerId: string,
  { filename, contentType, content, signal }: SentFile,
): Promise<{ uploadId: string; url: string | null }> {
  const { store, clock, ids, links, quota } = parts;
  if (content !== null && content.length > inlineMax)
    throw invalidArgument("content", "must be at most 1 MiB: use PUT for larger files");
  // The window ends on a full second, because the address has its end in seconds.
  const uploadUntil = Math.ceil(clock.now() / 1000) * 1000 + windowMs;
  const slot: StoredFile = {
    id: createFileId(ids),
    accountId: workerId,
    spaceId: task.spaceId,
    clientId: null,
    apiKeyId: null,
    taskId: task.id,
    filename: checkFilename(filename),
    contentType,
    status: "pending",
    blobId: null,
    bytes: null,
    sha256: null,
    error: null,
    createdAt: clock.now(),
    uploadUntil,
    expiresAt: null,
    deletedAt: null,
  };
  if (content !== null) {
    await keepInline(parts, slot, content, signal);
    return { uploadId: slot.id, url: null };
  }
  await store.change(async (tx) => {
    if ((await tx.blobs.usedBytes(workerId)) >= quota) throw overQuota(quota);
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
    if (!(await tx.blobs.keep(staged.blobId))) throw uploadAbandoned();
    await tx.files.insert(withoutStaging(file));
  });
}

/** Drops the members that only a staged file has. */
const withoutStaging = ({
  id,
  accountId,
  spaceId,
  clientId,
  taskId,
  filename,
  contentType,
  status,
  ...rest
}: StoredFile): StoredFile => ({
  id,
  accountId,
  spaceId,
  clientId,
  apiKeyId: rest.apiKeyId,
  taskId,
  filename,
  contentType,
  status,
  blobId: rest.blobId,
  bytes: rest.bytes,
  sha256: rest.sha256,
  error: rest.error,
  createdAt: rest.createdAt,
  uploadUntil: rest.uploadUntil,
  expiresAt: rest.expiresAt,
  deletedAt: rest.deletedAt,
});

/**
 * Finds a worker's uploads for this task. @throws Failure `not_found` for an upload that is unknown,
 * unfinished or deleted.
 */
export async function findUploads(
  store: Tx,
  now: number,
  task: Task,
  workerId: string,
  uploadIds: readonly string[],
): Promise<readonly StagedFile[]> {
  const files: StagedFile[] = [];
  for (const id of uploadIds) files.push(await findUpload(store, now, task, workerId, id));
  return files;
}

/** Finds one upload. @throws Failure `not_found` as for `findUploads`. */
export async function findUpload(
  store: Tx,
  now: number,
  task: Task,
  workerId: string,
  id: string,
): Promise<StagedFile> {
  const { blobId, bytes, sha256, filename, contentType } = ownUpload(
    await store.files.byId(id),
    task,
    workerId,
    now,
  );
  return { staged: { blobId, bytes, sha256 }, name: { filename, contentType } };
}

function ownUpload(file: StoredFile | null, task: Task, workerId: string, now: number) {
  if (file === null || file.accountId !== workerId || file.taskId !== task.id) throw notFound("upload");
  const { status, blobId, bytes, sha256, filename, contentType } = fileAt(file, now);
  if (status !== "uploaded" || blobId === null || bytes === null || sha256 === null) throw notFound("upload");
  return { blobId, bytes, sha256, filename, contentType };
}

/**
 * Deletes a worker's upload for this task after its use. @throws Failure `not_found` as for `findUploads`.
 */
export async function deleteUsedUpload(
  tx: Tx,
  now: number,
  task: Pick<Task, "id">,
  workerId: string,
  uploadId: string,
): Promise<void> {
  const blobId = await tx.files.deleteWorkerUpload({ id: uploadId, taskId: task.id, from: workerId }, now);
  if (blobId === null) throw notFound("upload");
  await tx.blobs.drop([blobId]);
}

/** Makes a worker's upload the task's file. Its bytes stay in the storage; only the owner changes. */
export const adoptUploads =
  (clock: Pick<Clock, "now">, workerId: string): Staging["keepArtifact"] =>
  async (tx, { id: taskId, accountId, clientId }, { blobId }) => {
    const file = await tx.files.adoptWorkerUpload(
      { blobId, taskId, from: workerId },
      { accountId, clientId },
      clock.now(),
    );
    if (!file) throw notFound("upload");
    await tx.blobs.releaseQuota(blobId);
    return file;
  };
