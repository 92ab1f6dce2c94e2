import { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Blobs } from "../files/blob.ts";
import type { Staged, Staging } from "../files/staging.ts";
import { uploadAbandoned } from "../files/writer.ts";
import type { Store, Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import {
  checkWorkspaceLimits,
  shareFile,
  type TakenFile,
  type Workspace,
  type WorkspaceEntry,
  type WorkspaceFile,
  workspaceLimits,
  workspacePath,
} from "./workspace.ts";

export interface WorkspaceParts {
  readonly store: Pick<Tx, "workspace">;
  /** Runs changes that lock an account's total of bytes. */
  readonly changeBytes: Store["change"];
  readonly staging: Pick<Staging, "stage" | "discard">;
  readonly blobs: Pick<Blobs, "read">;
  readonly clock: Clock;
}

/** The workspace of a task, for the run that has claimed it with this fence. */
export type WorkspaceOf = (task: Pick<Task, "id" | "spaceId" | "fence">, signal: AbortSignal) => Workspace;

/** Opens workspaces. Bytes are stored before the change that keeps them; the sweep removes replaced bytes. */
export const workspaces =
  ({ store, changeBytes, staging, blobs, clock }: WorkspaceParts): WorkspaceOf =>
  ({ id: taskId, spaceId, fence }, signal) => {
    /** Locks the task's row, and checks that this run may still write. */
    async function lockRun(tx: Tx): Promise<void> {
      const held = await tx.tasks.advance(taskId, { now: clock.now(), when: { fence, status: "running" } });
      if (!held) throw new Failure("unavailable", "the run may no longer write");
    }

    const keep = (path: string, { blobId, bytes, sha256 }: Staged): Promise<WorkspaceFile> =>
      changeBytes(async (tx) => {
        await lockRun(tx);
        const file = { taskId, spaceId, path, blobId, bytes, sha256, updatedAt: clock.now() };
        const files = await tx.workspace.list(taskId);
        checkWorkspaceLimits(files, file);
        if (!(await tx.blobs.keep(blobId))) throw uploadAbandoned();
        await tx.workspace.put(file);
        await tx.blobs.drop(files.filter((other) => other.path === path).map((other) => other.blobId));
        return file;
      });

    async function sharedFile(tx: Tx, path: string, fileId: string): Promise<WorkspaceFile> {
      const file = await tx.files.byId(fileId);
      if (file?.spaceId !== spaceId || file.blobId === null) throw notFound("file");
      const { blobId, bytes, sha256 } = file;
      const entry = { path: workspacePath(path), bytes: bytes ?? 0, sha256: sha256 ?? "" };
      return { ...entry, taskId, spaceId, blobId, updatedAt: clock.now() };
    }

    return {
      list: async (folder = "") =>
        (await store.workspace.list(taskId)).filter(({ path }) => path.startsWith(folder)).map(toEntry),
      async find(path) {
        const found = await store.workspace.find(taskId, workspacePath(path));
        return found && toEntry(found);
      },
      async *read(path) {
        const found = await store.workspace.find(taskId, workspacePath(path));
        if (!found) throw notFound("file");
        yield* await blobs.read(found.blobId);
      },
      async write(path, content) {
        const normalized = workspacePath(path);
        const bytes = Readable.from(content, { objectMode: false });
        const staged = await staging.stage(bytes, {
          accountId: null,
          max: workspaceLimits.fileBytes,
          signal,
        });
        try {
          return toEntry(await keep(normalized, staged));
        } catch (thrown) {
          await staging.discard(staged);
          throw thrown;
        }
      },
      async remove(path) {
        const normalized = workspacePath(path);
        return changeBytes(async (tx) => {
          await lockRun(tx);
          const found = await tx.workspace.find(taskId, normalized);
          if (!found) return false;
          await tx.workspace.remove(taskId, normalized);
          await tx.blobs.drop([found.blobId]);
          return true;
        });
      },
      take: (wanted) =>
        changeBytes(async (tx) => {
          await lockRun(tx);
          const files = [...(await tx.workspace.list(taskId))];
          const taken: TakenFile[] = [];
          for (const { path, fileId } of wanted) {
            try {
              if (!files.some((file) => file.path === workspacePath(path)))
                files.push(await shareFile(tx, files, await sharedFile(tx, path, fileId)));
              taken.push({ path });
            } catch (thrown) {
              if (!(thrown instanceof Failure)) throw thrown;
              taken.push({ path, missing: thrown.message });
            }
          }
          return taken;
        }),
    };
  };

const toEntry = ({ path, bytes, sha256, updatedAt }: WorkspaceFile): WorkspaceEntry => ({
  path,
  bytes,
  sha256,
  updatedAt,
});
