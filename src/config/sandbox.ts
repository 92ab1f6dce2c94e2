import { z } from "zod";
import { wholeNumber } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

export const sandbox = {
  SANDBOX_COMMAND: defineVariable({
    type: "command line",
    fallback: null,
    unset: "agents run no commands",
    rule: "an absolute path and its arguments, separated by spaces, one of them with {workspace}",
    example: "/usr/local/bin/sandbox {workspace} /bin/sh -c",
    description:
      "The command line that runs the commands of model agents. `{workspace}` is replaced by the folder with the task's files, and the agent's command is appended as the last argument. It must isolate the command from everything else: [docs/guides/models.md](../guides/models.md#a-sandbox-for-commands) has an example for bubblewrap, and `atp doctor` tries it. A server that runs as root also needs SANDBOX_UID and SANDBOX_GID.",
    schema: z
      .string()
      .transform((text) => text.trim().split(/\s+/))
      .refine(
        (args) =>
          args[0]?.startsWith("/") &&
          args.some((arg) => arg.includes("{workspace}")) &&
          !args.join().includes("\0"),
      ),
  }),
  SANDBOX_UID: defineVariable({
    type: "number",
    fallback: null,
    unset: "the user of the server",
    rule: "the id of a user: a whole number from 1 to 4294967294",
    example: "2000",
    description:
      "The user that SANDBOX_COMMAND is started as, together with SANDBOX_GID. A server that runs as root needs both to run commands; for other servers leave them unset. Choose a user that owns nothing and runs nothing else.",
    schema: wholeNumber(1, 4_294_967_294),
  }),
  SANDBOX_GID: defineVariable({
    type: "number",
    fallback: null,
    unset: "the group of the server",
    rule: "the id of a group: a whole number from 1 to 4294967294",
    example: "2000",
    description:
      "The group that SANDBOX_COMMAND is started with, together with SANDBOX_UID. It has no other groups.",
    schema: wholeNumber(1, 4_294_967_294),
  }),
};

/** How commands of agents are run. */
export interface SandboxSettings {
  /** The command line; `{workspace}` in it is replaced, and the command is appended. */
  readonly command: readonly string[];
  /** The user and group that it is started as; null: those of this process. */
  readonly user: { uid: number; gid: number } | null;
}

/** Reads the sandbox of commands; null without SANDBOX_COMMAND. */
export function readSandbox({ read, require }: Reader): SandboxSettings | null {
  const { SANDBOX_COMMAND, SANDBOX_UID, SANDBOX_GID } = read(sandbox);
  if (SANDBOX_UID !== null) require(sandbox, "SANDBOX_GID");
  if (SANDBOX_GID !== null) require(sandbox, "SANDBOX_UID");
  return SANDBOX_COMMAND === null
    ? null
    : {
        command: SANDBOX_COMMAND,
        user: SANDBOX_UID === null || SANDBOX_GID === null ? null : { uid: SANDBOX_UID, gid: SANDBOX_GID },
      };
}
