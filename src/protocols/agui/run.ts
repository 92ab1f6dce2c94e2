import { visible } from "../../core/actions/visible.ts";
import { createNarrator } from "../../narration/narrate.ts";
import { formOf, mayDecide, showAct } from "../shared/ask.ts";
import { type Json, type Operations, Refusal, type TaskEvent } from "../shared/operations.ts";
import { detailsOf, isQuestion, readTask, type Waiting, waitingOf } from "../shared/turn.ts";
import { type Begun, begin } from "./begin.ts";
import { type AgentEvent, protocolVersion } from "./event.ts";
import type { RunInput } from "./input.ts";
import { readHistory } from "./snapshot.ts";
import { createTranslation } from "./translate.ts";

/**
 * One run: what the task does until it no longer runs. It holds no policy: every step is an operation. A refusal is the
 * last event.
 *
 * @param signal aborted when the client is gone. The task continues.
 */
export async function* run(operations: Operations, input: RunInput, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const { threadId, runId } = input;
  yield { type: "RUN_STARTED", threadId, runId, protocolVersion };
  try {
    yield* unreadOf(input);
    const begun = await begin(operations, input, signal);
    yield* follow(operations, input, begun, signal);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    yield { type: "RUN_ERROR", code: thrown.code, message: thrown.message };
  }
}

/** Names the members that have no effect: an agent of the platform has its own tools, and knows only what a message says. */
function* unreadOf({ tools = [], context = [] }: RunInput): Generator<AgentEvent> {
  const members = [...(tools.length > 0 ? ["tools"] : []), ...(context.length > 0 ? ["context"] : [])];
  if (members.length > 0) yield { type: "CUSTOM", name: "atp.ignored", value: { members } };
}

async function* follow(
  operations: Operations,
  input: RunInput,
  { taskId, seq, sent, done, isReopened }: Begun,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const task = await readTask(operations, taskId, signal);
  let last = isReopened ? Number(task["last_seq"]) : seq;
  const history = isReopened ? await readHistory(operations, taskId, last, signal) : null;
  yield { type: "STATE_SNAPSHOT", snapshot: { ...input.state, ...history?.state, ...stateOf(task), last_seq: last, done } };
  if (history) yield { type: "MESSAGES_SNAPSHOT", messages: history.messages };
  const narrate = createNarrator();
  const translation = createTranslation(isReopened ? [] : usesIn(input), sent);
  const end: End = { isStopped: false, failure: null };
  for await (const item of operations.watch(taskId, last, signal)) {
    for (const passage of narrate(item)) yield* translation.of(passage);
    if (!("event" in item)) continue;
    last = item.event.seq;
    note(end, item.event);
  }
  yield* translation.close();
  if (translation.isStale) yield { type: "MESSAGES_SNAPSHOT", messages: (await readHistory(operations, taskId, last, signal)).messages };
  yield await endOf(operations, input, await readTask(operations, taskId, signal), end, signal);
}

/** How a turn ends, by its events. */
interface End {
  isStopped: boolean;
  failure: Json | null;
}

function note(end: End, event: TaskEvent): void {
  if (event.type === "user_message") Object.assign(end, { isStopped: false, failure: null });
  if (event.type === "user_stop") end.isStopped = true;
  if (event.type === "error_message") end.failure = detailsOf(event);
}

async function endOf(
  operations: Operations,
  { threadId, runId }: RunInput,
  task: Json,
  end: End,
  signal: AbortSignal,
): Promise<AgentEvent> {
  const ids = { threadId, runId };
  const waiting = waitingOf(task);
  const { isStopped, failure } = end;
  if (waiting) {
    const interrupt = await interruptOf(operations, task, waiting, signal);
    return { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [interrupt] } };
  }
  if (task["status"] === "error")
    return {
      type: "RUN_ERROR",
      code: String(failure?.["error_type"] ?? "internal"),
      message: String(failure?.["content"] ?? "the task failed"),
    };
  if (task["status"] === "running")
    return {
      type: "RUN_ERROR",
      code: "interrupted",
      message: "the stream ended and the task runs on; another run of the thread continues",
    };
  return { type: "RUN_FINISHED", ...ids, outcome: { type: isStopped ? "cancelled" : "success" } };
}

type Interrupt = Extract<
  NonNullable<Extract<AgentEvent, { type: "RUN_FINISHED" }>["outcome"]>,
  { type: "interrupt" }
>["interrupts"][number];

/** What the task waits for. An approval is shown whole, and has a form only for a credential that may decide it. */
async function interruptOf(operations: Operations, task: Json, waiting: Waiting, signal: AbortSignal): Promise<Interrupt> {
  const form = await formOf(operations, String(task["id"]), waiting, signal);
  const isApproval = !isQuestion(waiting);
  const act = isApproval ? showAct(waiting) : undefined;
  const canAnswer = !act || (act.isWhole && mayDecide(await operations.caller(signal)));
  const schema = form?.requestedSchema ?? waiting.schema;
  return {
    id: waiting.eventId,
    reason: isApproval ? "approval" : "question",
    message: act?.text ?? form?.message ?? visible(waiting.description),
    ...(canAnswer && schema && { responseSchema: { ...schema } }),
    metadata: { kind: waiting.kind, can_answer: canAnswer, task_url: task["task_url"] },
  };
}

/** The state that a client keeps and returns with the next run: it names the task and the last event. */
const stateOf = ({ id, title, task_url, status, status_detail }: Json): Json => ({
  task_id: id,
  title,
  task_url,
  status,
  waiting: status_detail ?? null,
});

/** Ids of the uses of tools in the client's messages. */
const usesIn = ({ messages }: RunInput): readonly string[] =>
  messages.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.map(({ id }: Json) => String(id)) : []));
