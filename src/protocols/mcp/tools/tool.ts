import type { InputRequiredResult, Tool as ListedTool, ServerContext } from "@modelcontextprotocol/server";
import type { CallerClient } from "../../shared/caller-client.ts";
import type { Turn } from "../../shared/turn.ts";
import type { ToolResult } from "../results.ts";
import type { TaskStarted } from "../task-handle.ts";
import { type InputOf, type Members, readInput, schemaOf } from "./input.ts";

/** A place in a conversation about a turn: what `requestState` carries. */
export interface Resumed extends Turn {
  /** Events up to this one were reported. */
  readonly seen: number;
}

/** What a call of a tool can do besides calls of operations. */
export interface Use {
  /** The client can show forms to its user. */
  readonly canAsk: boolean;
  /** The client continues long calls as tasks. */
  readonly takesTasks: boolean;
  /** The responses of the client's user, by the id of the event that they answer. */
  readonly responses: ServerContext["mcpReq"]["inputResponses"];
  /** The place at which the user was asked; undefined in the first call. */
  readonly resumed: Resumed | undefined;
  /** Seals a place for the client. */
  seal(place: Resumed): string;
  /** Sends a notification of progress, if the client wants them. */
  report(text: string): Promise<void>;
  /** Waits; aborted by the signal, and with the call. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export type ToolAnswer = ToolResult | InputRequiredResult | TaskStarted;

/** What a list of tools shows of one. */
export interface ToolFacts {
  readonly name: string;
  /** The operation that decides who has this tool. */
  readonly operation: string;
  readonly title: string;
  readonly description: string;
  /** Hints for the client's user interface. */
  readonly annotations: NonNullable<ListedTool["annotations"]>;
}

export interface Tool extends ToolFacts {
  readonly inputSchema: ListedTool["inputSchema"];
  /** @param input JSON of the client. @throws ApiError, Failure */
  run(client: CallerClient, input: object, use: Use): Promise<ToolAnswer>;
}

/** A tool of one function, which gets an input of the type of its members. */
export const toolOf = <M extends Members>(
  {
    members,
    required,
    ...facts
  }: ToolFacts & { readonly members: M; readonly required: readonly (keyof M & string)[] },
  run: (client: CallerClient, input: InputOf<M>, use: Use) => Promise<ToolAnswer>,
): Tool => ({
  ...facts,
  inputSchema: schemaOf(members, required),
  run: async (client, input, use) => run(client, readInput(members, { ...input }), use),
});

/** The name of an operation's tool: `task.sendMessage` is `task_send_message`. Some clients take no dots. */
export const toolName = (operation: string): string =>
  operation
    .replaceAll(".", "_")
    .replaceAll(/([a-z])([A-Z])/g, (_, before: string, after: string) => `${before}_${after.toLowerCase()}`);
