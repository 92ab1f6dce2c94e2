import type { Json, JsonObject } from "../../../core/json.ts";
import { currentName } from "../../../core/permissions/tool-names.ts";
import type { PlanStep } from "../../../core/tasks/event.ts";
import type { Turn, WrittenEvent } from "../../agent.ts";
import { planTool } from "./plan.ts";
import { waitedStates, waitName } from "./tools/subtasks.ts";
import { callIdOf, openCalls, partsOf, type Row, type Transcript } from "./transcript.ts";
import { resultPartOf } from "./transcript-files.ts";

// Events that no row covers become rows, once: those of tasks from before there were transcripts, of imported
// ones, and of turns that a worker, another profile or a process of an earlier release has run.

interface Writing {
  readonly transcript: Transcript;
  readonly mark: string;
  /** The last event that the rows covered before. */
  readonly covered: number;
  /** The model's text, which belongs to the use that follows it. */
  text: string;
}

const begin = (transcript: Transcript, mark: string): Writing => ({
  transcript,
  mark,
  covered: transcript.rows.reduce((max, { seq = 0 }) => Math.max(max, seq), 0),
  text: "",
});

/** Adds what happened in earlier turns. Uses of tools that the model does not have are left out. */
export function addEarlier(
  transcript: Transcript,
  { earlier, number }: Pick<Turn, "earlier" | "number">,
  hasTool: (name: string) => boolean,
  mark: string,
): void {
  const writing = begin(transcript, mark);
  // A message can have come while a turn ran that did not read it.
  const answered = Math.max(
    0,
    ...transcript.rows.flatMap(({ turn }) => (turn < number ? [turn] : [])),
    ...partsOf(transcript.rows, "message").map(({ seq }) => seq),
  );
  let hasUser = transcript.rows.some(({ role }) => role === "user");
  for (const entry of earlier) {
    hasUser ||= entry.role === "user";
    if (!hasUser || entry.seq <= (entry.role === "user" ? answered : writing.covered)) continue;
    if (entry.role === "tool") {
      if (hasTool(entry.name))
        addUse(writing, entry.seq, { name: entry.name, input: entry.arguments }, entry);
    } else if (entry.role === "assistant") addText(writing, entry.content);
    else {
      endText(writing, entry.seq - 1);
      transcript.add("user", [{ type: "text", text: entry.content }], { seq: entry.seq });
    }
  }
  endText(writing, earlier.at(-1)?.seq ?? 0);
}

/**
 * Adds the events of this turn, and its waits for subtasks, of which the last has no event. An approval that
 * waits becomes a call without a result. Text at the end belongs to a step that is not done: the model is
 * called again.
 *
 * @param isNew true when the task had no rows: then plans are added, and waits.
 */
export async function addWritten(
  transcript: Transcript,
  turn: Pick<Turn, "written" | "waits">,
  isNew: boolean,
  mark: string,
): Promise<void> {
  const { written, waits = [] } = turn;
  const writing = begin(transcript, mark);
  for (const event of written) if (event.seq > writing.covered || isNew) addEvent(writing, event, isNew);
  if (!isNew) return;
  const reported = written.filter(
    ({ type, payload }) =>
      type === "tool_used" && currentName(payload.tool) === waitName && payload.status === "success",
  );
  for (const { mode, reason, results } of waits.slice(reported.length)) {
    const result = waitedStates(reason, await results());
    addUse(
      writing,
      written.at(-1)?.seq ?? writing.covered,
      { name: waitName, input: { mode } },
      { result, isError: false },
    );
  }
}

function addEvent(writing: Writing, event: WrittenEvent, withPlans: boolean): void {
  const { seq } = event;
  if (event.type === "assistant_message") addText(writing, event.payload.content);
  if (event.type === "plan_update" && withPlans)
    addUse(
      writing,
      seq,
      { name: planTool.name, input: planInput(event.payload.steps) },
      { result: planTool.result, isError: false },
    );
  if (event.type !== "tool_used") return;
  const { tool, params = {}, actionId, status, result = null } = event.payload;
  const use = { name: tool, input: params, actionId };
  if (status === "pending_confirmation")
    writing.transcript.add(
      "state",
      [{ type: "asked", toolCallId: addCall(writing, seq, use), by: "confirm" }],
      { seq },
    );
  else addUse(writing, seq, use, { result, isError: status === "error" });
}

interface Use {
  readonly name: string;
  readonly input: JsonObject;
  readonly actionId?: string;
}

function addUse(
  writing: Writing,
  seq: number,
  use: Use,
  { result, isError }: { readonly result: Json; readonly isError: boolean },
): void {
  const { transcript, mark } = writing;
  const toolCallId = addCall(writing, seq, use);
  if (currentName(use.name) === waitName && !isError)
    transcript.add("state", [{ type: "asked", toolCallId, by: "wait" }], { seq });
  const call = { toolCallId, toolName: use.name };
  transcript.add("tool", [resultPartOf(call, result, isError ? "failed" : "done", { mark })], { seq });
}

/** Adds a call, unless it waits already. Returns its id. */
function addCall(writing: Writing, seq: number, { name, input, actionId }: Use): string {
  const { rows, add } = writing.transcript;
  const waiting = openCalls(rows).find((call) => actionId !== undefined && call.actionId === actionId);
  if (waiting) return waiting.toolCallId;
  const toolCallId = callIdOf(rows, 0);
  add(
    "assistant",
    [
      ...textParts(writing),
      { type: "tool-call", toolCallId, toolName: name, input, ...(actionId && { actionId }) },
    ],
    {
      seq,
    },
  );
  return toolCallId;
}

function addText(writing: Writing, content: string): void {
  writing.text = writing.text === "" ? content : `${writing.text}\n\n${content}`;
}

/** Adds the text as a separate answer: no use follows it. */
function endText(writing: Writing, seq: number): void {
  const parts = textParts(writing);
  if (parts.length > 0) writing.transcript.add("assistant", parts, { seq });
}

function textParts(writing: Writing): Row["parts"] {
  const { text } = writing;
  writing.text = "";
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

const planInput = (steps: readonly PlanStep[]): JsonObject => ({
  steps: steps.map(({ title, status }) => ({ title, status })),
});
