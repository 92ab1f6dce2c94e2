import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { visible } from "../../core/actions/visible.ts";
import { applyResponse, formOf, showAct } from "../shared/ask.ts";
import type { Json, Operations, TaskEvent } from "../shared/operations.ts";
import { detailsOf, isQuestion, readTask, type Turn, type Waiting, waitingOf } from "../shared/turn.ts";
import { result } from "./params.ts";
import { jsonResult, protocolErrors } from "./results.ts";
import { type ServerParts, signalOf } from "./server-parts.ts";
import { handleFacts, turnOf } from "./task-handle.ts";
import { turnView } from "./tools/settle.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

const byId = z.looseObject({ taskId: z.string().max(128) });

/** Pages of events in which the end of a turn is searched. */
const pagesMax = 5;

/**
 * Turns of tasks as tasks of the protocol: `tasks/get` reads one, `tasks/update` answers what it waits for, `tasks/cancel`
 * stops it. Nothing is kept for them: the id names the task and the event before the turn.
 */
export function addTasks(server: Server, parts: ServerParts): void {
  const { operations } = parts;
  server.setRequestHandler("tasks/get", { params: byId, result }, ({ taskId }, { mcpReq }) =>
    protocolErrors(async () => ({ ...(await stateOf(operations, turnIn(taskId), signalOf(parts, mcpReq.signal))) })),
  );
  server.setRequestHandler("tasks/update", { params: byId, result }, ({ taskId }, { mcpReq }) =>
    protocolErrors(async () => {
      const signal = signalOf(parts, mcpReq.signal);
      const turn = turnIn(taskId);
      const waiting = waitingOf(await readTask(operations, turn.taskId, signal));
      const response = waiting && mcpReq.inputResponses?.[waiting.eventId];
      if (waiting && response !== undefined) await applyResponse(operations, turn.taskId, waiting, response, signal);
      return {};
    }),
  );
  server.setRequestHandler("tasks/cancel", { params: byId, result }, ({ taskId }, { mcpReq }) =>
    protocolErrors(async () => {
      const signal = signalOf(parts, mcpReq.signal);
      const turn = turnIn(taskId);
      const { ended } = await readTurn(operations, turn, signal);
      if (!ended) await operations.call("task.stop", { task_id: turn.taskId }, signal);
      return {};
    }),
  );
}

function turnIn(taskId: string): Turn {
  const turn = turnOf(taskId);
  if (turn === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "taskId: is not the id of a task of this server");
  return turn;
}

/** The events of a turn, and whether its end is among them. */
interface SeenTurn {
  readonly events: readonly TaskEvent[];
  readonly ended: TaskEvent | undefined;
}

async function readTurn(operations: Operations, { taskId, seq }: Turn, signal: AbortSignal): Promise<SeenTurn> {
  const events: TaskEvent[] = [];
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { task_id: taskId, after_seq: seq, order: "asc", limit: 200, ...(cursor ? { cursor } : {}) };
    const { messages, next_cursor } = await operations.call("task.listMessages", request, signal);
    const some = messages as readonly TaskEvent[]; // By the schema of the answer.
    const end = some.findIndex(isEnd);
    events.push(...(end < 0 ? some : some.slice(0, end + 1)));
    cursor = next_cursor;
    if (end >= 0 || !cursor) break;
  }
  return { events, ended: events.findLast(isEnd) };
}

function isEnd(event: TaskEvent): boolean {
  const { agent_status: status } = detailsOf(event);
  return event.type === "status_update" && (status === "stopped" || status === "error");
}

/** The state of a turn (`DetailedTask` of the extension). */
async function stateOf(operations: Operations, turn: Turn, signal: AbortSignal): Promise<Json> {
  const task = await readTask(operations, turn.taskId, signal);
  const { events, ended } = await readTurn(operations, turn, signal);
  const facts = handleFacts(turn, task);
  if (ended) return { ...facts, ...endOf(turn, task, events, ended) };
  const waiting = waitingOf(task);
  const form = waiting && (await formOf(operations, turn.taskId, waiting, signal));
  if (!waiting || !form) return { ...facts, status: "working", ...(waiting && { statusMessage: messageOf(waiting) }) };
  const inputRequests = { [waiting.eventId]: { method: "elicitation/create", params: { mode: "form", ...form } } };
  return { ...facts, status: "input_required", inputRequests };
}

const messageOf = (waiting: Waiting): string => (isQuestion(waiting) ? visible(waiting.description) : showAct(waiting).text);

function endOf({ taskId }: Turn, task: Json, events: readonly TaskEvent[], ended: TaskEvent): Json {
  const failure = events.findLast(({ type }) => type === "error_message");
  if (detailsOf(ended)["agent_status"] === "error") {
    const message = String(failure ? detailsOf(failure)["content"] : "the turn failed");
    return { status: "failed", error: { code: ProtocolErrorCode.InternalError, message } };
  }
  if (events.some(({ type }) => type === "user_stop")) return { status: "cancelled" };
  const lastSeq = ended.seq;
  return { status: "completed", result: jsonResult(turnView(taskId, { task, events, waiting: null, lastSeq })) };
}
