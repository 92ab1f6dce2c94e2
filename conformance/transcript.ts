import type { TaskEvent } from "../src/core/tasks/event.ts";
import { WorkerError } from "./worker-error.ts";

/**
 * A task's events, one line each: `plan`, `tool`, `progress: TEXT`, `result: TEXT`, `question: TEXT`,
 * `error: TEXT`, and the status. Users' messages, started steps and explanations are omitted.
 */
export function transcriptOf(events: readonly TaskEvent[]): readonly string[] {
  return events.flatMap((event) => eventLine(event) ?? []);
}

function eventLine(event: TaskEvent): string | null {
  switch (event.type) {
    case "assistant_message":
      return `${event.payload.deliveryKind ?? "result"}: ${event.payload.content}`;
    case "error_message":
      return `error: ${event.payload.content}`;
    case "status_update":
      return event.payload.agentStatus;
    case "plan_update":
      return "plan";
    case "tool_used":
      return event.payload.status === "pending_confirmation" ? null : "tool";
    default:
      return null;
  }
}

/** The lines of `work COUNT` and `slow COUNT`. */
export const stepLines = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => ["plan", "tool", `progress: step ${i + 1} of ${count}`]).flat();

/**
 * @throws WorkerError with the first duplicated line, or else the first missing line, or else the difference.
 */
export function expectTranscript(expected: readonly string[], actual: readonly string[]): void {
  if (actual.length === expected.length && actual.every((line, i) => line === expected[i])) return;
  const tail = `\n  expected: ${lineList(expected)}\n  actual:   ${lineList(actual)}`;
  // Lines with a text are the most informative.
  const candidates = [...actual.filter((line) => line.includes(": ")), ...actual];
  const duplicated = candidates.find(
    (line) => times(actual, line) > times(expected, line) && times(expected, line) > 0,
  );
  if (duplicated !== undefined)
    throw new WorkerError(
      `${quote(duplicated)} was written twice. Repeated requests, by this process or by its replacement, must have the same key and content.${tail}`,
    );
  const missing = expected.find((line) => times(actual, line) < times(expected, line));
  if (missing !== undefined) throw new WorkerError(`${quote(missing)} is missing.${tail}`);
  throw new WorkerError(`The task's events are not the expected ones.${tail}`);
}

const times = (lines: readonly string[], line: string): number =>
  lines.filter((other) => other === line).length;
const quote = (line: string): string => JSON.stringify(line);
const lineList = (lines: readonly string[]): string => lines.join(", ") || "nothing";
