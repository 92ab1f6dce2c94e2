import type { ModelConfig } from "../../../../src/config/models.ts";
import type { JsonObject } from "../../../../src/core/json.ts";
import type { PermissionLevel } from "../../../../src/core/permissions/evaluate.ts";
import type { FetchPolicy } from "../../../../src/core/tasks/fetch-policy.ts";
import type { AttachedFile, TurnSkill } from "../../../../src/runtime/agent.ts";
import type { WaitedSubtask } from "../../../../src/runtime/agent-subtasks.ts";
import type { Tool } from "../../../../src/runtime/agents/model/tool.ts";
import type { Answering, Reply } from "../../../support/model/script.ts";
import type { ModelApi } from "../../../support/model/server.ts";
import type { RunOptions } from "../model-run.ts";

/**
 * What happens next in a session. A text is a message that begins a turn, a truth value the decision on what
 * the run before asked.
 */
export type Act =
  | string
  | boolean
  | {
      /** The message of a new turn. */
      readonly say?: string;
      /** The decision on what the run before asked, with the members that a person adds to it. */
      readonly decide?: boolean;
      readonly input?: JsonObject;
      /** The end of the subtasks for which the run before waits. */
      readonly waited?: readonly WaitedSubtask[];
      /** The run before was lost after the effect of its last call had begun. */
      readonly lost?: true;
      /** What holds from this act on. */
      readonly turn?: RunOptions["turn"];
      readonly config?: Partial<ModelConfig>;
    };

/** A scripted session of the model agent. */
export interface Session {
  /** The name of its file. */
  readonly name: string;
  readonly api: ModelApi;
  readonly acts: readonly Act[];
  readonly answers: readonly Reply[];
  readonly turn?: RunOptions["turn"];
  readonly config?: Partial<ModelConfig>;
  readonly policy?: FetchPolicy;
  /** Absent: pictures go as they are. */
  readonly showImages?: RunOptions["showImages"];
  readonly others?: Readonly<Record<string, Partial<ModelConfig>>>;
  /** Tools after the agent's own; new ones for each run of the session. */
  readonly tools?: () => readonly Tool[];
  /** Of the task, with what a person always allows. */
  readonly permissions?: readonly PermissionLevel[];
  /** Pages of the web by their addresses. */
  readonly pages?: Readonly<Record<string, string>>;
  /** By how much the tokens that the service reports grow from request to request. */
  readonly growth?: number;
}

export const use = (name: string, input: object) => ({ name, input: { ...input } });
/** An answer with one call. */
export const calls = (name: string, input: object, text = ""): Answering => ({
  ...(text && { text }),
  calls: [use(name, input)],
});

/** A file of the user. */
export function attached(
  filename: string,
  content: string | Buffer,
  contentType = "text/plain",
): AttachedFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return {
    filename,
    contentType,
    bytes: bytes.length,
    read: async function* () {
      yield bytes;
    },
  };
}

/** A skill of one file. */
export const skillOf = (id: string, text: string, forced = false): TurnSkill => ({
  ...{ id, name: id, description: `Use it for ${id}.`, forced },
  list: async () => [{ path: "SKILL.md", bytes: text.length }] as never,
  read: async () => Buffer.from(text),
});

/** The plan of three steps of which some are done. */
export const planOf = (done: number) =>
  use("plan", {
    steps: ["Write", "Read", "Tell"].map((title, nth) => ({
      title,
      status: nth < done ? "done" : nth === done ? "doing" : "todo",
    })),
  });
