import type { Clock } from "../core/clock.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { NewEvent } from "../core/tasks/event.ts";

/** One thing said in a task, by either side. */
export interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** What an agent is given for one turn: the same again whenever the turn is resumed. */
export interface Turn {
  readonly taskId: string;
  readonly title: string;
  /** BCP 47: the language to answer in. */
  readonly locale: string;
  readonly profile: string;
  /** The project's instruction; empty without one. */
  readonly instruction: string;
  /** What was said in earlier turns, oldest first. */
  readonly earlier: readonly Said[];
  /** The messages to answer, oldest first. */
  readonly messages: readonly string[];
  /** What a value must fit that the agent is to give at its finish; null when none is asked for. */
  readonly outputSchema: JsonObject | null;
  /** 1 for the first run of this turn, more when an earlier one was lost. */
  readonly claim: number;
  readonly clock: Clock;
  /** Aborted when the run is no longer ours: by a stop, a drain or a lost lease. */
  readonly signal: AbortSignal;
}

/** How a turn ends. */
export type Outcome =
  /** `output` is the value that `outputSchema` asks for; without one the extraction counts as failed. */
  | { readonly kind: "finish"; readonly content: string; readonly output?: Json }
  | { readonly kind: "fail"; readonly errorType: string; readonly content: string }
  /** Given up as if this process had died: nothing is written, and a sweep finds the task. */
  | { readonly kind: "abandon" };

/**
 * An agent answers a turn by a generator: each yield is a group of events that is
 * written in one transaction, the return value is the outcome. When a run was lost,
 * the generator is run again from its start, and the events that the turn already
 * has are passed over: so an agent must yield the same events for the same turn.
 */
export type Agent = (turn: Turn) => AsyncGenerator<readonly NewEvent[], Outcome, void>;
