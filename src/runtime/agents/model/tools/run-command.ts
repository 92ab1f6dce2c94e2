import type { Tool } from "../tool.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { given, refused, toolOf } from "./tool-of.ts";

interface Input {
  readonly command: string;
  readonly timeout_seconds?: number;
}

/** Runs a command in the operator's sandbox: each use is approved, unless always allowed in this task (contract/decisions.md 15). */
export const runCommand = (sandbox: Sandbox): Tool =>
  toolOf<Input>({
    name: "run_command",
    description:
      "Runs a shell command in a sandbox whose working folder holds your workspace; what it changes there comes back into the workspace. The user approves each command. It gives the exit code and what was printed, cut in the middle when it is long. Use no other tool beside it.",
    properties: {
      command: { type: "string", minLength: 1, maxLength: 8_000, description: "For /bin/sh." },
      timeout_seconds: { type: "integer", minimum: 1, maximum: 600, description: "60 unless given." },
    },
    required: ["command"],
    brief: ({ command }) => `Run: ${command}`,
    async use({ command, timeout_seconds: seconds = 60 }, { turn, decisions: [decision] }) {
      if (command.includes("\0") || !command.isWellFormed()) return refused("The command must be plain text.");
      if (!decision) {
        const asked = { kind: "confirm", action: "terminalExecute", variant: "" } as const;
        return { kind: "end", outcome: { ...asked, description: `Run this command in the sandbox: ${command}`, params: { command } } };
      }
      if (!decision.accepted) return refused("The user did not approve the command.");
      return given({ ...(await sandbox(command, { workspace: turn.workspace, seconds, signal: turn.signal })) });
    },
  });
