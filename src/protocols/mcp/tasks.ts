import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Client, isQuestion, type Task, type TaskEvent } from "../../../packages/client/src/index.ts";
import { visible } from "../../core/actions/visible.ts";
import { applyResponse, formOf, showAct } from "../shared/ask.ts";
import { readTask, type Turn, type Waiting, waitingOf } from "../shared/turn.ts";
import { result } from "./params.ts";
import { jsonResult, protocolErrors } from "./results.ts";
import { clientFor, type ServerParts } from "./server-parts.ts";
import { handleFacts, turnOf } from "./task-handle.ts";
import { turnView } from "./tools/settle.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

const byId = z.looseObject({ taskId: z.string().max(128) });

/** Pages of events in which the end of a turn is searched. */
const pagesMax = 5;

/**
 * Turns of tasks as tasks of the protocol: `tasks/get` reads one, `tasks/update` answers what it waits for,
 * `tasks/cancel` stops it. Nothing is kept for them: the id names the task and the event before the turn.
 */
export function addTasks(server: Server, parts: ServerParts): void {
  server.setRequestHandler("tasks/get", { params: byId, result }, ({ taskId }, context) =>
    protocolErrors(() => stateOf(clientFor(parts, context), turnIn(taskId))),
  );
  server.setRequestHandler("tasks/update", { params: byId, result }, ({ taskId: handle }, context) =>
    protocolErrors(async () => {
      const client = clientFor(parts, context);
      const { taskId } = turnIn(handle);
      const waiting = waitingOf(await readTask(client, taskId));
      const response = waiting && context.mcpReq.inputResponses?.[waiting.waiting_for_event_id];
      if (waiting && response !== undefined) await applyResponse(client, taskId, waiting, response);
      return {};
    }),
  );
  server.setRequestHandler("tasks/cancel", { params: byId, result }, ({ taskId }, context) =>
    protocolErrors(async () => {
      const client = clientFor(parts, context);
      const turn = turnIn(taskId);
      if (!(await readTurn(client, turn)).ended) await client.tasks.stop({ task_id: turn.taskId });
      return {};
    }),
  );
}

function turnIn(taskId: string): Turn {
  const turn = turnOf(taskId);
  if (turn === null)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      "taskId: is not the id of a task of this server",
    );
  return turn;
}

type StatusEvent = Extract<TaskEvent, { readonly type: "status_update" }>;

/** The events of a turn, and its end, if it is among them. */
interface SeenTurn {
  readonly events: readonly TaskEvent[];
  readonly ended: StatusEvent | undefined;
}

async function readTurn(client: Client, { taskId, seq }: Turn): Promise<SeenTurn> {
  const events: TaskEvent[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = {
      task_id: taskId,
      after_seq: seq,
      order: "asc",
      limit: 200,
      ...(cursor && { cursor }),
    } as const;
    const { messages, next_cursor } = await client.tasks.listMessages(request);
    const end = messages.findIndex(isEnd);
    events.push(...(end < 0 ? messages : messages.slice(0, end + 1)));
    cursor = next_cursor;
    if (end >= 0 || !cursor) break;
  }
  return { events, ended: events.findLast(isEnd) };
}

const isEnd = (event: TaskEvent): event is StatusEvent =>
  event.type === "status_update" && ["stopped", "error"].includes(event.status_update.agent_status);

/** The state of a turn (`DetailedTask` of the extension). */
async function stateOf(client: Client, turn: Turn) {
  const task = await readTask(client, turn.taskId);
  const { events, ended } = await readTurn(client, turn);
  const facts = handleFacts(turn, task);
  if (ended) return { ...facts, ...endOf(turn, task, events, ended) };
  const waiting = waitingOf(task);
  const form = waiting && (await formOf(client, turn.taskId, waiting));
  if (!waiting || !form)
    return { ...facts, status: "working", ...(waiting && { statusMessage: messageOf(waiting) }) };
  const inputRequests = {
    [waiting.waiting_for_event_id]: { method: "elicitation/create", params: { mode: "form", ...form } },
  };
  return { ...facts, status: "input_required", inputRequests };
}

const messageOf = (waiting: Waiting): string =>
  isQuestion(waiting) ? visible(waiting.waiting_description) : showAct(waiting).text;

function endOf(
  { taskId }: Turn,
  task: Task,
  events: readonly TaskEvent[],
  { seq, status_update }: StatusEvent,
) {
  if (status_update.agent_status === "error") {
    const message =
      events.findLast((event) => event.type === "error_message")?.error_message.content ?? "the turn failed";
    return { status: "failed", error: { code: ProtocolErrorCode.InternalError, message } };
  }
  if (events.some(({ type }) => type === "user_stop")) return { status: "cancelled" };
  return {
    status: "completed",
    result: jsonResult(turnView(taskId, { task, events, waiting: null, lastSeq: seq })),
  };
}
