import { Failure, invalid } from "../failure.ts";
import type { Tx } from "../store.ts";

/** A file of a task's workspace; its bytes are in the storage. */
export interface WorkspaceFile {
  readonly taskId: string;
  readonly spaceId: string;
  /** As `workspacePath` has it. */
  readonly path: string;
  readonly blobId: string;
  readonly bytes: number;
  /** Of the bytes, in hex. */
  readonly sha256: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** Workspaces as they are kept; whoever changes one holds the lock of its task's row. */
export interface WorkspaceRows {
  /** All files of a task, by path. */
  list(taskId: string): Promise<readonly WorkspaceFile[]>;
  find(taskId: string, path: string): Promise<WorkspaceFile | null>;
  /** Takes the place of a file of the same path. */
  put(file: WorkspaceFile): Promise<void>;
  remove(taskId: string, path: string): Promise<void>;
  /** Erases all files of a task, and answers their blobs. */
  eraseOf(taskId: string): Promise<readonly string[]>;
}

/** What others than its agent see of a file. */
export type WorkspaceEntry = Pick<WorkspaceFile, "path" | "bytes" | "sha256" | "updatedAt">;

/**
 * The files of a task that its agent reads and writes: they live as long as the task, from turn to turn, and whoever
 * sees the task does not see them. Writing is guarded by the run's fence. Paths are checked and brought into their one
 * spelling here (`workspacePath`).
 */
export interface Workspace {
  /** By path. */
  list(): Promise<readonly WorkspaceEntry[]>;
  /** @throws Failure `invalid` for what is no path. */
  find(path: string): Promise<WorkspaceEntry | null>;
  /** Reads a file from its start. @throws Failure `absent`, or `invalid` for what is no path. */
  read(path: string): AsyncIterable<Uint8Array>;
  /**
   * Makes or replaces a file. Writing the same again changes nothing.
   *
   * @throws Failure `invalid` for what is no path, or leads through a file; `too_large` and `exhausted` beyond the
   * limits; `unavailable` when the run is no longer the one that may write.
   */
  write(path: string, content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<WorkspaceEntry>;
  /** False when there was none. @throws Failure as `write`. */
  remove(path: string): Promise<boolean>;
}

/** What one task may keep. */
export const workspaceLimits = { files: 1_000, bytes: 1024 ** 3, fileBytes: 512 * 1024 ** 2 } as const;

/**
 * Whether a file may join, or replace one of, these.
 *
 * @throws Failure `exhausted` beyond the number or sum of files, `invalid` where a folder would have to be a file.
 */
export function checkRoom(files: readonly WorkspaceFile[], { path, bytes }: Pick<WorkspaceFile, "path" | "bytes">): void {
  const others = files.filter((file) => file.path !== path);
  const crossed = others.some((other) => other.path.startsWith(`${path}/`) || path.startsWith(`${other.path}/`));
  if (crossed) throw invalid("path", "a folder and a file cannot have the same name");
  if (others.length >= workspaceLimits.files) throw new Failure("exhausted", `a workspace has at most ${workspaceLimits.files} files`);
  const sum = others.reduce((total, other) => total + other.bytes, bytes);
  if (sum > workspaceLimits.bytes) throw new Failure("exhausted", `the files of a workspace have at most ${workspaceLimits.bytes} bytes`);
}

/** A workspace goes with its task; its bytes, by the sweep. */
export async function dropWorkspace(tx: Tx, taskId: string): Promise<void> {
  await tx.blobs.drop(await tx.workspace.eraseOf(taskId));
}
