import { mkdtemp, realpath, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { limitConcurrency } from "../../../../../async/limit.ts";
import type { Log } from "../../../../../core/log.ts";
import type { Workspace } from "../../../../../core/workspaces/workspace.ts";
import type { Tool } from "../../tool.ts";
import { createTool, errorResult, successResult } from "../create-tool.ts";
import { type CommandResult, execute } from "./execute.ts";
import { copyBack, copyOut, type WorkspaceChanges } from "./folder.ts";

/** The options of a command. */
export interface CommandOptions {
  readonly workspace: Workspace;
  readonly seconds: number;
  /** Ends the command and its processes. */
  readonly signal: AbortSignal;
}

/** Runs a command. Returns its result and its changes in the workspace. */
type Sandbox = (command: string, using: CommandOptions) => Promise<CommandResult & WorkspaceChanges>;

/** The placeholder of the workspace's folder in a sandbox command. */
export const folderPlaceholder = "{workspace}";

/** Limits the commands that this process runs at once. */
const runLimited = limitConcurrency(Math.max(2, availableParallelism()));

/**
 * A sandbox that the operator has configured. `words` are its command line; the command to run is appended as the last
 * argument. The workspace is copied into a temporary folder, and the changes of the command are copied back.
 */
export const commandSandbox =
  (words: readonly string[], log: Log): Sandbox =>
  (command, using) =>
    runLimited(async () => {
      using.signal.throwIfAborted();
      const folder = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
      try {
        const digests = await copyOut(using.workspace, folder);
        const line = words.map((word) => word.replaceAll(folderPlaceholder, () => folder));
        const result = await execute([...line, command], { folder, seconds: using.seconds, signal: using.signal });
        return { ...result, ...(await copyBack(using.workspace, folder, digests)) };
      } finally {
        await deleteFolder(folder, log);
      }
    });

/** Deletes the folder. A process that the command has left running can prevent this; the run does not fail then. */
const deleteFolder = (folder: string, log: Log): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((thrown: NodeJS.ErrnoException) =>
    log("warn", "the folder of a command could not be deleted: the sandbox has left a process running", { folder, code: thrown.code }),
  );

interface Input {
  readonly command: string;
  readonly timeout_seconds?: number;
}

/** Runs a command in the operator's sandbox. Each use needs approval, unless always allowed in this task (spec/decisions.md 15). */
export const runCommand = (sandbox: Sandbox): Tool =>
  createTool<Input>({
    name: "run_command",
    description:
      "Runs a shell command in a sandbox whose working folder has the files of your workspace; its changes there are copied back into the workspace. The user approves each command. It returns the exit code and the output, cut in the middle when it is long. Use no other tool in the same step.",
    properties: {
      command: { type: "string", minLength: 1, maxLength: 8_000, description: "For /bin/sh." },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 600, description: "60 by default." },
    },
    required: ["command"],
    brief: ({ command }) => `Run: ${command}`,
    async use({ command, timeout_seconds: seconds = 60 }, { turn, decisions: [decision] }) {
      if (command.includes("\0") || !command.isWellFormed()) return errorResult("The command must be plain text.");
      if (!decision) {
        const confirm = { kind: "confirm", action: "terminalExecute", variant: "" } as const;
        return { kind: "end", outcome: { ...confirm, description: `Run this command in the sandbox: ${command}`, params: { command } } };
      }
      if (!decision.accepted) return errorResult("The user did not approve the command.");
      return successResult({ ...(await sandbox(command, { workspace: turn.workspace, seconds, signal: turn.signal })) });
    },
  });
