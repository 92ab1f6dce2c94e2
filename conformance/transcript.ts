import type { TaskEvent } from "../src/core/tasks/event.ts";
import { Flaw } from "./flaw.ts";

/**
 * What happened in a task, a line for each event: `plan`, `tool`, `progress: TEXT`, `result: TEXT`, `question: TEXT`,
 * `error: TEXT`, and the status. What users say, steps that begin and explanations are left out.
 */
export function transcriptOf(events: readonly TaskEvent[]): readonly string[] {
  return events.flatMap((event) => lineOf(event) ?? []);
}

function lineOf(event: TaskEvent): string | null {
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

/** What `work COUNT` and `slow COUNT` write for these steps. */
export const stepLines = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => ["plan", "tool", `progress: step ${i + 1} of ${count}`]).flat();

/** @throws Flaw that says first what is there twice, then what is missing, then what differs. */
export function expectTranscript(expected: readonly string[], came: readonly string[]): void {
  if (came.length === expected.length && came.every((line, i) => line === expected[i])) return;
  const tail = `\n  expected: ${shown(expected)}\n  came:     ${shown(came)}`;
  // What has a text says most.
  const inTurn = [...came.filter((line) => line.includes(": ")), ...came];
  const doubled = inTurn.find((line) => times(came, line) > times(expected, line) && times(expected, line) > 0);
  if (doubled !== undefined)
    throw new Flaw(
      `${quoted(doubled)} was written twice. What is sent again, by this process or by one that goes on for it, has to carry the key and the content it had.${tail}`,
    );
  const missing = expected.find((line) => times(came, line) < times(expected, line));
  if (missing !== undefined) throw new Flaw(`${quoted(missing)} is missing.${tail}`);
  throw new Flaw(`The task's events are not those that were asked for.${tail}`);
}

const times = (lines: readonly string[], line: string): number => lines.filter((other) => other === line).length;
const quoted = (line: string): string => JSON.stringify(line);
const shown = (lines: readonly string[]): string => lines.join(", ") || "nothing";
