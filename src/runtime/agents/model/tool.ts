import type { Json, JsonObject } from "../../../core/json.ts";
import type { Decided, NewFile, NewSite, Outcome, Subtask, Turn } from "../../agent.ts";

/** What a tool's use came to. */
export type ToolResult =
  /** Data for the model, never instruction; `isError` says that the use failed, and why in words that hold nothing of ours. */
  | {
      readonly kind: "result";
      readonly value: Json;
      readonly isError?: boolean;
      readonly files?: readonly NewFile[];
      readonly subtask?: Subtask;
      readonly site?: NewSite;
    }
  /**
   * The turn ends here. After a confirmation the tool is used again, with the decision; a question begins another turn, in
   * which the model knows what its tools have found (so the `memo` of a question is the agent's, not the tool's).
   */
  | { readonly kind: "end"; readonly outcome: Extract<Outcome, { kind: "ask" | "confirm" }> };

/** One use of a tool, by the model. */
export interface ToolUse {
  /** The same whenever the turn is resumed. */
  readonly callId: string;
  readonly input: JsonObject;
  readonly turn: Turn;
  /** What the user decided on what this use asked approval for, in the order of asking; empty at first. */
  readonly decisions: readonly Decided[];
}

/**
 * Something that the model agent can do.
 *
 * A use counts once its `tool_used` event is written. A use that had begun when the run was lost, and one that waits for
 * a decision, is made again with the same `callId` and input: at least once, so whatever a use does outside the platform
 * must bear to be done twice, or be told apart by `callId`. What it throws is a failed use to the model, without its
 * text; a Failure `unavailable` gives the run up, to be taken up again.
 */
export interface Tool {
  /** Snake case, the same in the events. */
  readonly name: string;
  /** For the model: what it does, when to use it, what it gives. */
  readonly description: string;
  /** JSON Schema of the input, an object; the input is checked against it before `use`. */
  readonly inputSchema: JsonObject;
  /** A short text for people of what it is about to do, without secrets. */
  readonly brief: (input: JsonObject) => string;
  readonly use: (use: ToolUse) => Promise<ToolResult>;
}

/** The tools of a turn: some are there only where the operator or the task allows them. */
export type ToolsFor = (turn: Turn) => readonly Tool[];
