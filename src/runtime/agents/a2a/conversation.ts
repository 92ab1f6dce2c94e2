import { createHash } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { isObject, type Json } from "../../../core/json.ts";
import type { AgentEvent, AttachedFile, Turn } from "../../agent.ts";

/**
 * The task of an agent that a turn gave to it; without an id when the agent answered with a message alone.
 */
export interface Place {
  readonly taskId: string;
  readonly contextId: string;
}

/** What the turn after a question knows. */
interface Memo extends Place {
  /** The agent waits for something outside of the conversation: no message answers it. */
  readonly isOutside: boolean;
}

/** The name of the use of a tool that records that an agent has a message. */
const callName = "call_agent";
/** Bytes of the files of a message. */
const filesMax = 20 * 1_048_576;

/** What a turn knows of the agent's side. */
export interface Known {
  /** The agent has the messages of this turn. */
  readonly sent: Place | undefined;
  /** The question that this turn answers. */
  readonly asked: Memo | undefined;
  /** The context of earlier turns. */
  readonly contextId: string;
}

/** Reads what the events of the task record about an agent. */
export function knownIn(turn: Turn, agent: string): Known {
  const written = turn.written.flatMap((event) =>
    event.type === "tool_used" && event.payload.tool === callName ? [event.payload] : [],
  );
  const before = turn.earlier.findLast(
    (entry) => entry.role === "tool" && entry.name === callName && entry.arguments["agent"] === agent,
  );
  const asked = placeIn(turn.memo);
  return {
    sent: placeIn(written.at(-1)?.result ?? null),
    asked: asked && {
      ...asked,
      isOutside: isObject(turn.memo) && (turn.memo as { outside?: unknown }).outside === true,
    },
    contextId: (before?.role === "tool" && placeIn(before.result)?.contextId) || "",
  };
}

function placeIn(json: Json): Place | undefined {
  if (!isObject(json)) return undefined;
  const { task_id: taskId, context_id: contextId } = json as { task_id?: unknown; context_id?: unknown };
  return typeof taskId === "string" && typeof contextId === "string" ? { taskId, contextId } : undefined;
}

/** The memo of a turn that ends with a question. */
export const memoOf = ({ taskId, contextId }: Place, isOutside: boolean): Json => ({
  task_id: taskId,
  context_id: contextId,
  ...(isOutside && { outside: true }),
});

/** The event that records that the agent has the messages of this turn. */
export const callEvent = (agent: string, { taskId, contextId }: Place, messageId: string): AgentEvent => ({
  type: "tool_used",
  payload: {
    tool: callName,
    actionId: messageId,
    status: "success",
    brief: `Gave the work to ${agent}`,
    message: { action: "Calling", param: agent },
    params: { agent },
    result: { task_id: taskId, context_id: contextId },
  },
});

/**
 * The id of the turn's message: the same in each run of the turn, so that an agent that knows it does not
 * begin again.
 */
export const messageIdOf = ({ taskId, earlier, messages }: Turn): string =>
  createHash("sha256")
    .update(JSON.stringify([taskId, earlier, messages]))
    .digest("base64url")
    .slice(0, 22);

/** The message of the turn, in the JSON of the protocol. */
export async function messageOf(turn: Turn, { asked, contextId }: Known): Promise<JsonValue> {
  // The agent knows the project's instruction from the beginning of the conversation.
  const instruction = asked || contextId !== "" ? turn.ownInstruction : turn.instruction;
  const texts = [instruction ?? "", ...turn.messages].filter((text) => text !== "").map((text) => ({ text }));
  const place = asked
    ? { taskId: asked.taskId, contextId: asked.contextId }
    : contextId === ""
      ? {}
      : { contextId };
  const parts = [...texts, ...(await filesOf(turn.attachments))];
  return { messageId: messageIdOf(turn), role: "ROLE_USER", parts, ...place };
}

async function filesOf(files: readonly AttachedFile[]): Promise<JsonValue[]> {
  const parts: JsonValue[] = [];
  let left = filesMax;
  for (const { filename, contentType, bytes, read } of files) {
    left -= bytes;
    if (left < 0) parts.push({ text: `The file ${filename} is too large to be sent.` });
    else
      parts.push({
        raw: Buffer.concat(await Array.fromAsync(read())).toString("base64"),
        filename,
        mediaType: contentType,
      });
  }
  return parts;
}

/** The answers that the extension of this platform offers with a question. */
export function optionsIn(values: readonly JsonValue[]): readonly string[] {
  const facts = values.at(-1);
  const { question_expectation: questionExpectation } = (isObject(facts) ? facts : {}) as {
    readonly question_expectation?: { options?: unknown };
  };
  const options = questionExpectation?.options;
  return Array.isArray(options) ? options.filter((option) => typeof option === "string").slice(0, 20) : [];
}
