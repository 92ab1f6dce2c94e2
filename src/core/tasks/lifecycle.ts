import type { StructuredResult } from "../structured-output/result.ts";
import type { NewEvent } from "./event.ts";
import type { TaskChanges, TaskStatus } from "./task.ts";

/**
 * The life of a task (contract/v2.md 9.1):
 *
 *               create / sendMessage                  agent asks
 *      ──────────────────▶ running ───────────────────────────▶ waiting
 *                           │  ▲ ▲                                 │
 *                    finish │  │ └── sendMessage, confirmAction ───┘
 *                 task.stop ▼  │ sendMessage
 *                        stopped ◀── task.stop (from running or waiting)
 *                                       error ◀── agent failed
 *
 * Each step here is pure: what changes, and the events that tell of it.
 */
export interface Step {
  readonly set: TaskChanges;
  readonly events: readonly NewEvent[];
}

const status = (agentStatus: TaskStatus, brief: string): NewEvent => ({ type: "status_update", payload: { agentStatus, brief } });
const userMessage = (content: string): NewEvent => ({ type: "user_message", payload: { content, messageType: "text" } });

/** The first events of a task. */
export const begin = (content: string): readonly NewEvent[] => [userMessage(content), status("running", "Working on it")];

/** A message to a task that runs: the turn after this one will answer it. */
export const queueMessage = (content: string): Step => ({ set: { addsMessage: true }, events: [userMessage(content)] });

/** A message to a task that does not run: it waits for a runner again. */
export const resume = (content: string, now: number): Step => ({
  set: { addsMessage: true, status: "running", nodeId: null, queuedAt: now, claims: 0, idleClaims: 0 },
  events: begin(content),
});

/** The user's stop: whoever ran it may write no more, and what was asked before is not taken up again. */
export const stop: Step = {
  set: { status: "stopped", nodeId: null, raiseFence: true, beginTurn: true },
  events: [{ type: "user_stop", payload: {} }, status("stopped", "Stopped by the user")],
};

/** What a turn ends with, by how it ended. `said` goes before the status, and stays where the turn is followed by another. */
export interface Ending extends Step {
  readonly said: readonly NewEvent[];
}

/** The agent is done. What an armed schema asked for comes after the status, and disarms it (contract/v2.md 9.5). */
export function finish(content: string, result?: StructuredResult): Ending {
  const said: readonly NewEvent[] = [{ type: "assistant_message", payload: { content, deliveryKind: "result" } }];
  const events = [...said, status("stopped", "Done")];
  if (!result) return { said, set: { status: "stopped", nodeId: null }, events };
  const told: NewEvent = { type: "structured_output_result", payload: result };
  return { said, set: { status: "stopped", nodeId: null, outputSchema: null }, events: [...events, told] };
}

/** The agent cannot go on. */
export function fail(errorType: string, content: string): Ending {
  const said: readonly NewEvent[] = [{ type: "error_message", payload: { errorType, content } }];
  return { said, set: { status: "error", nodeId: null }, events: [...said, status("error", "Failed")] };
}
