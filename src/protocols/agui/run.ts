import {
  type ErrorMessage,
  isQuestion,
  type Task,
  type TaskEvent,
} from "../../../packages/client/src/index.ts";
import { visible } from "../../core/actions/visible.ts";
import { createNarrator } from "../../narration/narrate.ts";
import { formOf, mayDecide, showAct } from "../shared/ask.ts";
import { type CallerClient, watchTurn } from "../shared/caller-client.ts";
import { refusalOf } from "../shared/refusal.ts";
import { readTask, type Waiting, waitingOf } from "../shared/turn.ts";
import { type Begun, begin } from "./begin.ts";
import { type AgentEvent, protocolVersion } from "./event.ts";
import { type RunInput, usesIn } from "./input.ts";
import { readHistory } from "./snapshot.ts";
import { createTranslation } from "./translate.ts";

/**
 * One run: what the task does until it no longer runs. It holds no policy: every step is an operation. A
 * refusal is the last event.
 *
 * @param client its calls end when the reader is gone. The task continues.
 */
export async function* run(client: CallerClient, input: RunInput): AsyncGenerator<AgentEvent> {
  const { threadId, runId } = input;
  yield { type: "RUN_STARTED", threadId, runId, protocolVersion };
  try {
    yield* unreadOf(input);
    yield* follow(client, input, await begin(client, input));
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    if (refusal === null) throw thrown;
    yield { type: "RUN_ERROR", code: refusal.reason, message: refusal.message };
  }
}

/**
 * Names the members that have no effect: an agent of the platform has its own tools, and knows only what a
 * message says.
 */
function* unreadOf({ tools = [], context = [] }: RunInput): Generator<AgentEvent> {
  const members = [...(tools.length > 0 ? ["tools"] : []), ...(context.length > 0 ? ["context"] : [])];
  if (members.length > 0) yield { type: "CUSTOM", name: "atp.ignored", value: { members } };
}

async function* follow(
  client: CallerClient,
  input: RunInput,
  { taskId, seq, sent, done, isReopened }: Begun,
): AsyncGenerator<AgentEvent> {
  const task = await readTask(client, taskId);
  let last = isReopened ? task.last_seq : seq;
  const history = isReopened ? await readHistory(client, taskId, last) : null;
  yield {
    type: "STATE_SNAPSHOT",
    snapshot: { ...input.state, ...history?.state, ...stateOf(task), last_seq: last, done },
  };
  if (history) yield { type: "MESSAGES_SNAPSHOT", messages: history.messages };
  const narrate = createNarrator();
  const translation = createTranslation(isReopened ? [] : usesIn(input), sent);
  const end: End = { isStopped: false, failure: null };
  for await (const item of watchTurn(client, taskId, last)) {
    for (const passage of narrate(item)) yield* translation.of(passage);
    if (item.type === "text_delta") continue;
    last = item.seq;
    note(end, item);
  }
  yield* translation.close();
  if (translation.isStale)
    yield { type: "MESSAGES_SNAPSHOT", messages: (await readHistory(client, taskId, last)).messages };
  yield await endOf(client, input, await readTask(client, taskId), end);
}

/** How a turn ends, by its events. */
interface End {
  isStopped: boolean;
  failure: ErrorMessage | null;
}

function note(end: End, event: TaskEvent): void {
  if (event.type === "user_message") Object.assign(end, { isStopped: false, failure: null });
  if (event.type === "user_stop") end.isStopped = true;
  if (event.type === "error_message") end.failure = event.error_message;
}

async function endOf(
  client: CallerClient,
  { threadId, runId }: RunInput,
  task: Task,
  end: End,
): Promise<AgentEvent> {
  const ids = { threadId, runId };
  const waiting = waitingOf(task);
  const { isStopped, failure } = end;
  if (waiting) {
    const interrupt = await interruptOf(client, task, waiting);
    return { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [interrupt] } };
  }
  if (task.status === "error")
    return {
      type: "RUN_ERROR",
      code: failure?.error_type ?? "internal",
      message: failure?.content ?? "the task failed",
    };
  if (task.status === "running")
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

/**
 * What the task waits for. An approval is shown whole, and has a form only for a credential that may decide
 * it.
 */
async function interruptOf(client: CallerClient, task: Task, waiting: Waiting): Promise<Interrupt> {
  const form = await formOf(client, task.id, waiting);
  const isApproval = !isQuestion(waiting);
  const act = isApproval ? showAct(waiting) : undefined;
  const canAnswer = !act || (act.isWhole && mayDecide(await client.rights()));
  const schema = form?.requestedSchema ?? waiting.confirm_input_schema;
  return {
    id: waiting.waiting_for_event_id,
    reason: isApproval ? "approval" : "question",
    message: act?.text ?? form?.message ?? visible(waiting.waiting_description),
    ...(canAnswer && schema && { responseSchema: { ...schema } }),
    metadata: { kind: waiting.waiting_for_event_type, can_answer: canAnswer, task_url: task.task_url },
  };
}

/** The state that a client keeps and returns with the next run: it names the task and the last event. */
const stateOf = ({ id, title, task_url, status, status_detail }: Task) => ({
  task_id: id,
  title,
  task_url,
  status,
  waiting: status_detail ?? null,
});
