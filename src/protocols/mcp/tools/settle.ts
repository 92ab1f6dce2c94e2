import { inputRequired } from "@modelcontextprotocol/server";
import { isQuestion, type Task, type TaskEvent } from "../../../../packages/client/src/index.ts";
import { visible } from "../../../core/actions/visible.ts";
import { applyResponse, formOf, showAct } from "../../shared/ask.ts";
import type { CallerClient } from "../../shared/caller-client.ts";
import { follow, type Progress, readTask, type Turn, waitingOf } from "../../shared/turn.ts";
import { jsonResult, type ToolResult } from "../results.ts";
import { startedTask } from "../task-handle.ts";
import type { ToolAnswer, Use } from "./tool.ts";

/** The newest messages of a turn in a result. */
const messagesMax = 20;

/**
 * Waits for the end of a turn, and asks the client's user when the task waits for a person. A client that
 * continues calls as tasks gets the task at once.
 */
export async function settle(
  client: CallerClient,
  turn: Turn,
  use: Use,
  seconds: number,
): Promise<ToolAnswer> {
  if (use.takesTasks) return startedTask(turn, await readTask(client, turn.taskId));
  const undecided = use.resumed !== undefined && !(await respond(client, turn.taskId, use));
  const progress = await waitFor(client, turn, use, undecided ? 0 : seconds);
  if (!undecided && use.canAsk && progress.waiting) {
    const form = await formOf(client, turn.taskId, progress.waiting);
    if (form)
      return inputRequired({
        inputRequests: { [progress.waiting.waiting_for_event_id]: inputRequired.elicit(form) },
        requestState: use.seal({ ...turn, seen: progress.lastSeq }),
      });
  }
  return withAct(jsonResult(turnView(turn.taskId, progress)), progress);
}

/** The action with its line breaks, after the JSON in which they are escaped. */
const withAct = ({ content }: ToolResult, { waiting }: Progress): ToolResult =>
  waiting && !isQuestion(waiting)
    ? { content: [...content, { type: "text", text: showAct(waiting).text }] }
    : { content };

/** Applies the response of the user to the present wait. False when it decided nothing. */
async function respond(client: CallerClient, taskId: string, { responses = {} }: Use): Promise<boolean> {
  const waiting = waitingOf(await readTask(client, taskId));
  // Another client has decided before.
  if (waiting === null) return true;
  return (
    (await applyResponse(client, taskId, waiting, responses[waiting.waiting_for_event_id])) === "decided"
  );
}

async function waitFor(
  client: CallerClient,
  turn: Turn,
  { report, resumed, sleep }: Use,
  seconds: number,
): Promise<Progress> {
  const enough = new AbortController();
  const done = new AbortController();
  sleep(seconds * 1000, done.signal).then(
    () => enough.abort(),
    () => undefined,
  );
  try {
    return await follow(client, turn, { enough: enough.signal, report, seen: resumed?.seen ?? 0 });
  } finally {
    done.abort();
  }
}

export function turnView(taskId: string, { task, events, waiting, lastSeq }: Progress) {
  const { title, status, outcome, task_url, brief } = task;
  const messages = events.flatMap((event) => messageOf(event) ?? []).slice(-messagesMax);
  const output = events.findLast((event) => event.type === "structured_output_result");
  return {
    task_id: taskId,
    title,
    status,
    outcome,
    brief,
    task_url,
    last_seq: lastSeq,
    ...(waiting && {
      waiting_for: {
        event_id: waiting.waiting_for_event_id,
        kind: waiting.waiting_for_event_type,
        description: visible(waiting.waiting_description),
      },
    }),
    ...(output && { structured_output: output.structured_output_result }),
    messages,
    next: nextStep(task, waiting && (isQuestion(waiting) ? "question" : "approval")),
  };
}

function messageOf(event: TaskEvent) {
  const { seq } = event;
  if (event.type === "error_message")
    return { seq, content: event.error_message.content, error: event.error_message.error_type };
  if (event.type !== "assistant_message") return undefined;
  const { content, delivery_kind: deliveryKind, attachments } = event.assistant_message;
  const files = attachments.map(({ filename, content_type }) => ({ filename, content_type }));
  return { seq, content, kind: deliveryKind, ...(files.length > 0 && { files }) };
}

function nextStep({ status, task_url }: Task, waitsFor: "question" | "approval" | null): string {
  if (waitsFor === "question") return "The agent asks a question: answer it with task_answer.";
  if (waitsFor === "approval")
    return `The agent waits for an approval, which only a person can give: at ${task_url}`;
  if (status === "running") return "The task still runs: wait for it with task_wait.";
  return "The turn has ended: task_send_message starts the next one.";
}
