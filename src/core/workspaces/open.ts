import { Readable } from "node:stream";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Blobs } from "../files/blobs.ts";
import type { Staged, Staging } from "../files/staging.ts";
import { givenUp } from "../files/writer.ts";
import type { Store, Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { workspacePath } from "./path.ts";
import { checkRoom, type Workspace, type WorkspaceEntry, type WorkspaceFile, workspaceLimits } from "./workspace.ts";

/** What workspaces need of their surroundings. */
export interface WorkspaceParts {
  readonly store: Store;
  readonly staging: Pick<Staging, "stage" | "discard">;
  readonly blobs: Pick<Blobs, "read">;
  readonly clock: Clock;
}

/** The workspace of a task, for the run that has claimed it with this fence. */
export type WorkspaceOf = (task: Pick<Task, "id" | "spaceId" | "fence">, signal: AbortSignal) => Workspace;

/** Opens workspaces. Bytes are in the storage before the change that keeps them; what it replaces is swept. */
export const workspaces =
  ({ store, staging, blobs, clock }: WorkspaceParts): WorkspaceOf =>
  ({ id: taskId, spaceId, fence }, signal) => {
    /** Takes the lock of the task's row, as long as this run is the one that may write. */
    async function guarded(tx: Tx): Promise<void> {
      const held = await tx.tasks.advance(taskId, { now: clock.now(), when: { fence, status: "running" } });
      if (!held) throw new Failure("unavailable", "the run may write no more");
    }

    const keep = (path: string, { blobId, bytes, sha256 }: Staged): Promise<WorkspaceFile> =>
      store.change(async (tx) => {
        await guarded(tx);
        const file = { taskId, spaceId, path, blobId, bytes, sha256, updatedAt: clock.now() };
        const files = await tx.workspace.list(taskId);
        checkRoom(files, file);
        if (!(await tx.blobs.keep(blobId))) throw givenUp();
        await tx.workspace.put(file);
        await tx.blobs.drop(files.filter((other) => other.path === path).map((other) => other.blobId));
        return file;
      });

    return {
      list: async () => (await store.workspace.list(taskId)).map(entryOf),
      async find(path) {
        const found = await store.workspace.find(taskId, workspacePath(path));
        return found && entryOf(found);
      },
      async *read(path) {
        const found = await store.workspace.find(taskId, workspacePath(path));
        if (!found) throw absent("file");
        yield* await blobs.read(found.blobId);
      },
      async write(path, content) {
        const place = workspacePath(path);
        const bytes = Readable.from(content, { objectMode: false });
        const staged = await staging.stage(bytes, { accountId: null, max: workspaceLimits.fileBytes, signal });
        try {
          return entryOf(await keep(place, staged));
        } catch (thrown) {
          await staging.discard(staged);
          throw thrown;
        }
      },
      async remove(path) {
        const place = workspacePath(path);
        return store.change(async (tx) => {
          await guarded(tx);
          const found = await tx.workspace.find(taskId, place);
          if (!found) return false;
          await tx.workspace.remove(taskId, place);
          await tx.blobs.drop([found.blobId]);
          return true;
        });
      },
    };
  };

const entryOf = ({ path, bytes, sha256, updatedAt }: WorkspaceFile): WorkspaceEntry => ({ path, bytes, sha256, updatedAt });
