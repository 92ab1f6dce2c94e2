import { mkdtemp, realpath, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fewAtOnce } from "../../../../../core/few-at-once.ts";
import type { Log } from "../../../../../core/log.ts";
import type { Workspace } from "../../../../../core/workspaces/workspace.ts";
import { type Came, execute } from "./execute.ts";
import { type Brought, bringBack, layOut } from "./folder.ts";

/** What a command runs with. */
export interface Using {
  readonly workspace: Workspace;
  readonly seconds: number;
  /** Ends the command, and all that it has started. */
  readonly signal: AbortSignal;
}

/** Runs a command, and answers what it came to. */
export type Sandbox = (command: string, using: Using) => Promise<Came & Brought>;

/** Where a sandbox command names the folder with the workspace. */
export const folderPlace = "{workspace}";

/** So many commands of one process run at a time. */
const turns = fewAtOnce(Math.max(2, availableParallelism()));

/**
 * A sandbox of the operator's: `words` are its command line, and the command to run becomes its last argument. The
 * workspace is laid out in a folder of its own, and what the command has changed there is brought back.
 */
export const commandSandbox =
  (words: readonly string[], log: Log): Sandbox =>
  (command, using) =>
    turns(async () => {
      using.signal.throwIfAborted();
      const folder = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
      try {
        const known = await layOut(using.workspace, folder);
        const line = words.map((word) => word.replaceAll(folderPlace, () => folder));
        const came = await execute([...line, command], { folder, seconds: using.seconds, signal: using.signal });
        return { ...came, ...(await bringBack(using.workspace, folder, known)) };
      } finally {
        await removed(folder, log);
      }
    });

/** A process that the command has left running can keep its folder from being removed: that is no failure of the run. */
const removed = (folder: string, log: Log): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((thrown: NodeJS.ErrnoException) =>
    log("warn", "the folder of a command could not be removed: the sandbox has left a process running", { folder, code: thrown.code }),
  );
