import { extname } from "node:path";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { hiddenCharacters } from "../files/filename.ts";
import type { Tx } from "../store.ts";

/**
 * The limits of a path: folders and name, bytes of a part (the limit of common file systems), bytes of the
 * path.
 */
const depthMax = 16;
const segmentBytesMax = 255;
const bytesMax = 1_000;

/**
 * Normalizes a path within a workspace: names joined by `/` that stay below its root. Removes `./` and
 * doubled slashes, and composes characters (NFC), so that a file has one spelling.
 *
 * @throws Failure `invalid_argument` for an absolute path, one with `..`, one with invisible characters, and
 * one that is too deep or too long.
 */
export function workspacePath(text: string): string {
  const invalid = (rule: string) => invalidArgument("path", rule);
  if (!text.isWellFormed() || hiddenCharacters.test(text))
    throw invalid("must not contain control or bidirectional characters");
  if (/^[/~]|\\|^[A-Za-z]:/.test(text)) throw invalid("must be relative, with / between its parts");
  const parts = text
    .normalize("NFC")
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 || text.endsWith("/")) throw invalid("must name a file");
  if (parts.includes("..")) throw invalid("must not contain ..");
  if (parts.length > depthMax) throw invalid(`must have at most ${depthMax} parts`);
  const path = parts.join("/");
  if (Buffer.byteLength(path) > bytesMax) throw invalid(`must be at most ${bytesMax} bytes of UTF-8`);
  if (parts.some((part) => Buffer.byteLength(part) > segmentBytesMax))
    throw invalid(`must have parts of at most ${segmentBytesMax} bytes of UTF-8`);
  return path;
}

/** The last part of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The most characters of a name: its bytes, with a number, must fit into a part of a path. */
const nameMax = 80;

/** The nth of the names for files of the same name: `a.txt`, `a (2).txt`. Long names are cut. */
export function nthName(filename: string, nth: number): string {
  const cut = (text: string, max: number) => text.slice(0, max).toWellFormed();
  const end = cut(extname(filename), nameMax / 2);
  const stem = cut(filename.slice(0, filename.length - extname(filename).length), nameMax - end.length);
  return nth === 1 ? `${stem}${end}` : `${stem} (${nth})${end}`;
}

/** A file of a task's workspace; its bytes are in the storage. */
export interface WorkspaceFile {
  readonly taskId: string;
  readonly spaceId: string;
  /** In the form of `workspacePath`. */
  readonly path: string;
  readonly blobId: string;
  readonly bytes: number;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** Rows of workspaces. A change holds the lock of its task's row. */
export interface WorkspaceRows {
  /** All files of a task, by path. */
  list(taskId: string): Promise<readonly WorkspaceFile[]>;
  find(taskId: string, path: string): Promise<WorkspaceFile | null>;
  /** Inserts a file, or replaces the one of the same path. */
  put(file: WorkspaceFile): Promise<void>;
  remove(taskId: string, path: string): Promise<void>;
  /** Deletes all files of a task, and returns their blobs. */
  deleteOfTask(taskId: string): Promise<readonly string[]>;
}

/** The public facts of a file. */
export type WorkspaceEntry = Pick<WorkspaceFile, "path" | "bytes" | "sha256" | "updatedAt">;

/**
 * The files of a task that its agent reads and writes. They are kept from turn to turn until the task is
 * deleted, and are not visible to users. The run's fence guards writes. This interface checks and normalizes
 * paths (`workspacePath`).
 */
export interface Workspace {
  /** By path. @param folder only files in it and below, with a `/` at its end. */
  list(folder?: string): Promise<readonly WorkspaceEntry[]>;
  /** @throws Failure `invalid_argument` for an invalid path. */
  find(path: string): Promise<WorkspaceEntry | null>;
  /** Reads a file from its start. @throws Failure `not_found`, or `invalid_argument` for an invalid path. */
  read(path: string): AsyncIterable<Uint8Array>;
  /**
   * Creates or replaces a file. Writing the same content again changes nothing.
   *
   * @throws Failure `invalid_argument` for an invalid path, or one that leads through a file; `too_large` and
   * `resource_exhausted` beyond the limits; `unavailable` when the run may no longer write.
   */
  write(path: string, content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<WorkspaceEntry>;
  /** False when there was none. @throws Failure as `write`. */
  remove(path: string): Promise<boolean>;
  /**
   * Adds files of the space by reference to their bytes, except where a path has a file already.
   *
   * @param wanted the ids of files, and their paths here.
   * @throws Failure `unavailable` as `write`.
   */
  take(wanted: readonly { readonly path: string; readonly fileId: string }[]): Promise<readonly TakenFile[]>;
}

/** The path of a file that a workspace was to take, and why it is not there. */
export interface TakenFile {
  readonly path: string;
  readonly missing?: string;
}

export const workspaceLimits = { files: 1_000, bytes: 1024 ** 3, fileBytes: 512 * 1024 ** 2 } as const;

/**
 * Checks whether a file can be added to these, or replace one of them.
 *
 * @throws Failure `resource_exhausted` beyond the number or sum of files, `invalid_argument` when a path
 * would be a folder and a file.
 */
export function checkWorkspaceLimits(
  files: readonly WorkspaceFile[],
  { path, bytes }: Pick<WorkspaceFile, "path" | "bytes">,
): void {
  const others = files.filter((file) => file.path !== path);
  const crossed = others.some(
    (other) => other.path.startsWith(`${path}/`) || path.startsWith(`${other.path}/`),
  );
  if (crossed) throw invalidArgument("path", "a folder and a file cannot have the same name");
  if (others.length >= workspaceLimits.files)
    throw new Failure("resource_exhausted", `a workspace has at most ${workspaceLimits.files} files`);
  const sum = others.reduce((total, other) => total + other.bytes, bytes);
  if (sum > workspaceLimits.bytes)
    throw new Failure(
      "resource_exhausted",
      `the files of a workspace have at most ${workspaceLimits.bytes} bytes`,
    );
}

/**
 * Adds a file by reference to the bytes of another one.
 *
 * @param others the files of its workspace.
 * @throws Failure as `Workspace.write`, and `not_found` when the bytes are deleted.
 */
export async function shareFile(
  tx: Tx,
  others: readonly WorkspaceFile[],
  file: WorkspaceFile,
): Promise<WorkspaceFile> {
  checkWorkspaceLimits(others, file);
  if (!(await tx.blobs.share(file.blobId))) throw notFound("file");
  await tx.workspace.put(file);
  return file;
}

/** Deletes the workspace of a deleted task; the sweep removes its bytes. */
export async function deleteWorkspace(tx: Tx, taskId: string): Promise<void> {
  await tx.blobs.drop(await tx.workspace.deleteOfTask(taskId));
}
