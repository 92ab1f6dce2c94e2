import type { InputRequiredResult, Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Json, Operations } from "../../shared/operations.ts";
import type { Turn } from "../../shared/turn.ts";
import type { Block, ToolResult } from "../results.ts";

/** The call continues as a task of the protocol (extension `io.modelcontextprotocol/tasks`). */
export interface TaskStarted {
  readonly resultType: "task";
  readonly content: Block[];
  readonly [member: string]: unknown;
}

/** A place in a conversation about a turn: what `requestState` carries. */
export interface Resumed extends Turn {
  /** Events up to this one were reported. */
  readonly seen: number;
}

export interface Use {
  readonly operations: Operations;
  readonly signal: AbortSignal;
  /** The client can show forms to its user. */
  readonly canAsk: boolean;
  /** The client continues long calls as tasks. */
  readonly takesTasks: boolean;
  /** The responses of the client's user, by the id of the event that they answer. */
  readonly responses: Readonly<Record<string, unknown>> | undefined;
  /** The place at which the user was asked; undefined in the first call. */
  readonly resumed: Resumed | undefined;
  /** Seals a place for the client. */
  seal(place: Resumed): string;
  /** Sends a notification of progress, if the client wants them. */
  report(text: string): Promise<void>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** JSON Schema of an object. */
export type InputSchema = ListedTool["inputSchema"];

export interface Tool {
  readonly name: string;
  /** The operation that decides who has this tool. */
  readonly operation: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  /** Hints for the client's user interface. */
  readonly annotations: Json;
  run(input: Json, use: Use): Promise<ToolResult | InputRequiredResult | TaskStarted>;
}

/** The name of an operation's tool: `task.sendMessage` is `task_send_message`. Some clients take no dots. */
export const toolName = (operation: string): string =>
  operation.replaceAll(".", "_").replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before}_${after.toLowerCase()}`);

/** The schema of an input with these members and no others. */
export const objectSchema = (properties: Json, required: readonly string[]): InputSchema => ({
  type: "object",
  // JSON Schemas, written in this folder or made of the descriptors.
  properties: properties as NonNullable<InputSchema["properties"]>,
  required: [...required],
  additionalProperties: false,
});
