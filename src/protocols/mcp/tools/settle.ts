import { type InputRequiredResult, inputRequired } from "@modelcontextprotocol/server";
import { visible } from "../../../core/actions/visible.ts";
import { applyResponse, formOf, showAct } from "../../shared/ask.ts";
import type { Json, TaskEvent } from "../../shared/operations.ts";
import { detailsOf, follow, isQuestion, type Progress, readTask, type Turn, waitingOf } from "../../shared/turn.ts";
import { jsonResult, type ToolResult } from "../results.ts";
import { startedTask } from "../task-handle.ts";
import type { TaskStarted, Use } from "./tool.ts";

/** The newest messages of a turn in a result. */
const messagesMax = 20;

/**
 * Waits for the end of a turn, and asks the client's user when the task waits for a person. A client that continues calls as
 * tasks gets the task at once.
 */
export async function settle(turn: Turn, use: Use, seconds: number): Promise<ToolResult | InputRequiredResult | TaskStarted> {
  if (use.takesTasks) return startedTask(turn, await readTask(use.operations, turn.taskId, use.signal));
  const undecided = use.resumed !== undefined && !(await respond(turn.taskId, use));
  const progress = await waitFor(turn, use, undecided ? 0 : seconds);
  if (!undecided && use.canAsk && progress.waiting) {
    const form = await formOf(use.operations, turn.taskId, progress.waiting, use.signal);
    if (form) {
      const { eventId } = progress.waiting;
      return inputRequired({
        inputRequests: { [eventId]: inputRequired.elicit(form) },
        requestState: use.seal({ ...turn, seen: progress.lastSeq }),
      });
    }
  }
  return withAct(jsonResult(turnView(turn.taskId, progress)), progress);
}

/** The action with its line breaks, after the JSON in which they are escaped. */
const withAct = ({ content }: ToolResult, { waiting }: Progress): ToolResult =>
  waiting && !isQuestion(waiting) ? { content: [...content, { type: "text", text: showAct(waiting).text }] } : { content };

/** Applies the response of the user to the present wait. False when it decided nothing. */
async function respond(taskId: string, { operations, responses = {}, signal }: Use): Promise<boolean> {
  const waiting = waitingOf(await readTask(operations, taskId, signal));
  // Another client has decided before.
  if (waiting === null) return true;
  return (await applyResponse(operations, taskId, waiting, responses[waiting.eventId], signal)) === "decided";
}

async function waitFor(turn: Turn, { operations, signal, report, resumed, sleep }: Use, seconds: number): Promise<Progress> {
  const enough = new AbortController();
  const done = new AbortController();
  sleep(seconds * 1000, AbortSignal.any([signal, done.signal])).then(
    () => enough.abort(),
    () => undefined,
  );
  try {
    return await follow(operations, turn, { signal, enough: enough.signal, report, seen: resumed?.seen ?? 0 });
  } finally {
    done.abort();
  }
}

export function turnView(taskId: string, { task, events, waiting, lastSeq }: Progress): Json {
  const { title, status, outcome, task_url, brief } = task;
  const messages = events.flatMap((event) => messageOf(event) ?? []).slice(-messagesMax);
  const output = events.findLast(({ type }) => type === "structured_output_result");
  return {
    ...{ task_id: taskId, title, status, outcome, brief, task_url, last_seq: lastSeq },
    ...(waiting && { waiting_for: { event_id: waiting.eventId, kind: waiting.kind, description: visible(waiting.description) } }),
    ...(output && { structured_output: detailsOf(output) }),
    messages,
    next: nextStep(task, waiting && (isQuestion(waiting) ? "question" : "approval")),
  };
}

function messageOf(event: TaskEvent): Json | undefined {
  if (event.type !== "assistant_message" && event.type !== "error_message") return undefined;
  const { content, delivery_kind: kind, error_type: error, attachments } = detailsOf(event);
  const files = Array.isArray(attachments) ? attachments.map(({ filename, content_type }: Json) => ({ filename, content_type })) : [];
  return { seq: event.seq, content, ...(error ? { error } : { kind }), ...(files.length > 0 && { files }) };
}

function nextStep({ status, task_url }: Json, waitsFor: "question" | "approval" | null): string {
  if (waitsFor === "question") return "The agent asks a question: answer it with task_answer.";
  if (waitsFor === "approval") return `The agent waits for an approval, which only a person can give: at ${String(task_url)}`;
  if (status === "running") return "The task still runs: wait for it with task_wait.";
  return "The turn has ended: task_send_message starts the next one.";
}
