import { lchown, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { limitConcurrency } from "../../../../../async/limit.ts";
import type { SandboxSettings } from "../../../../../config/sandbox.ts";
import { invalidArgument } from "../../../../../core/failure.ts";
import type { Log } from "../../../../../core/log.ts";
import type { Workspace } from "../../../../../core/workspaces/workspace.ts";
import type { Tool } from "../../tool.ts";
import { createTool, successResult } from "../create-tool.ts";
import { type CommandResult, execute } from "./execute.ts";
import { copyBack, copyOut, type WorkspaceChanges } from "./folder.ts";

export interface CommandOptions {
  readonly workspace: Workspace;
  readonly seconds: number;
  /** Ends the command and its processes. */
  readonly signal: AbortSignal;
}

type Sandbox = (command: string, using: CommandOptions) => Promise<CommandResult & WorkspaceChanges>;

/** The placeholder of the workspace's folder in a sandbox command. */
export const folderPlaceholder = "{workspace}";

/** Limits the commands that this process runs at once. */
const runLimited = limitConcurrency(Math.max(2, availableParallelism()));

/**
 * Why no command may be run with these settings; null if commands may be run. Root is never the user of a
 * sandbox: the kernel checks files as `/proc/sys/kernel/core_pattern` against the real root, in all
 * namespaces.
 */
export function sandboxFault(
  { user }: Pick<SandboxSettings, "user">,
  uid: number | undefined = process.getuid?.(),
): string | null {
  if (uid === 0)
    return user === null
      ? "a sandbox must not start as root; set SANDBOX_UID and SANDBOX_GID to another user's"
      : null;
  if (user === null || user.uid === uid) return null;
  return `only root can start a sandbox as another user; unset SANDBOX_UID and SANDBOX_GID, or set them to those of this server's user`;
}

/**
 * A sandbox that the operator has configured. The workspace is copied into a temporary folder, and the
 * changes of the command are copied back.
 */
export const commandSandbox =
  (settings: SandboxSettings, log: Log): Sandbox =>
  (command, using) =>
    runLimited(() => {
      using.signal.throwIfAborted();
      return withFolder(log, async (folder) => {
        const digests = await copyOut(using.workspace, folder);
        const result = await runIn(folder, settings, command, using);
        return { ...result, ...(await copyBack(using.workspace, folder, digests)) };
      });
    });

/** Does work with a temporary folder, which is deleted afterwards. `work` gets the folder's real path. */
export async function withFolder<T>(log: Log, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
  try {
    return await work(folder);
  } finally {
    await deleteFolder(folder, log);
  }
}

/** Runs a command in the sandbox, with a folder that becomes its user's. @throws as `execute`. */
export async function runIn(
  folder: string,
  { command: words, user }: SandboxSettings,
  command: string,
  { seconds, signal }: Pick<CommandOptions, "seconds" | "signal">,
): Promise<CommandResult> {
  if (user !== null) await handOver(folder, user);
  const line = words.map((word) => word.replaceAll(folderPlaceholder, () => folder));
  return execute([...line, command], { folder, user, seconds, signal });
}

/**
 * Gives a folder to a user. The folder itself comes last: until then no other user can change what is in it.
 */
async function handOver(folder: string, { uid, gid }: NonNullable<SandboxSettings["user"]>): Promise<void> {
  for (const path of await readdir(folder, { recursive: true })) await lchown(join(folder, path), uid, gid);
  await lchown(folder, uid, gid);
}

/**
 * Deletes the folder. A process that the command has left running can prevent this; the run does not fail
 * then.
 */
const deleteFolder = (folder: string, log: Log): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch((thrown: NodeJS.ErrnoException) =>
    log("warn", "the folder of a command could not be deleted: the sandbox has left a process running", {
      folder,
      code: thrown.code,
    }),
  );

interface Input {
  readonly command: string;
  readonly timeout_seconds?: number;
}

/**
 * Runs a command in the operator's sandbox. Rules see it as `bash` with its command line.
 */
export const runCommand = (sandbox: Sandbox): Tool =>
  createTool<Input>({
    name: "run_command",
    description:
      "Runs a shell command in a sandbox whose working folder has the files of your workspace; its changes there are copied back into the workspace. The user approves each command. It returns the exit code and the output, cut in the middle when it is long.",
    properties: {
      command: {
        type: "string",
        minLength: 1,
        maxLength: 8_000,
        description: "For /bin/sh.",
      },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 600, description: "60 by default." },
    },
    required: ["command"],
    repeats: false,
    permission({ command }) {
      if (command.includes("\0") || !command.isWellFormed())
        throw invalidArgument("", "The command must be plain text.");
      return {
        tool: "bash",
        subjects: [command],
        isEffect: true,
        isCompound: /[;&|`\n<>()]/.test(command),
      };
    },
    approval: ({ command }) => ({
      action: "terminalExecute",
      variant: "",
      description: `Run this command in the sandbox: ${command}`,
      params: { command },
    }),
    brief: ({ command }) => `Run: ${command}`,
    async use({ command, timeout_seconds: timeoutSeconds = 60 }, { turn, begin }) {
      await begin();
      return successResult({
        ...(await sandbox(command, {
          workspace: turn.workspace,
          seconds: timeoutSeconds,
          signal: turn.signal,
        })),
      });
    },
  });
