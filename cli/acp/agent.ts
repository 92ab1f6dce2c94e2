import { randomUUID } from "node:crypto";
import {
  type AgentApp,
  type AgentContext,
  agent,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { readEvents } from "../../src/narration/history.ts";
import { createNarrator, type Passage } from "../../src/narration/narrate.ts";
import { showAct } from "../../src/protocols/shared/ask.ts";
import { type Json, type Operations, Refusal, type TaskEvent } from "../../src/protocols/shared/operations.ts";
import { detailsOf, isQuestion, readTask, type Waiting, waitingOf } from "../../src/protocols/shared/turn.ts";
import { decide } from "./decide.ts";
import { messageOf } from "./prompt.ts";
import type { StoredSessions } from "./sessions.ts";
import { createUpdates, notice, userMessage } from "./updates.ts";

/** The dependencies of the agent. */
export interface AgentParts {
  readonly operations: Operations;
  readonly sessions: StoredSessions;
  /** Members of `task.create`, for example `agent_profile`. */
  readonly creation: Json;
  readonly version: string;
}

/** A session of the editor: a task, once it has a message. */
interface Session {
  readonly id: string;
  taskId: string | null;
  /** The last event that the editor has. */
  seq: number;
  isBusy: boolean;
  readonly updates: (passage: Passage) => readonly SessionUpdate[];
}

/** Sessions that are open at once in one program. */
const sessionsMax = 1_000;
const taskForm = /^[A-Za-z0-9]{22}$/;

/** The agent of an editor (ACP version 1): each session is a task, and each prompt a message to it. It holds no policy. */
export function createAgent(parts: AgentParts): AgentApp {
  const { operations, sessions, version } = parts;
  const open = new Map<string, Session>();

  function begin(id: string, taskId: string | null): Session {
    const session: Session = { id, taskId, seq: 0, isBusy: false, updates: createUpdates() };
    open.set(id, session);
    const [oldest] = open.keys();
    if (open.size > sessionsMax && oldest !== undefined) open.delete(oldest);
    return session;
  }

  return agent({ name: "agent-task-platform" })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "agent-task-platform", title: "Agent Task Platform", version },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
      authMethods: [],
    }))
    .onRequest("session/new", () => ({ sessionId: begin(randomUUID(), null).id }))
    .onRequest("session/load", ({ params: { sessionId }, client, signal }) =>
      refusing(async () => {
        const taskId = sessions.find(sessionId) ?? (taskForm.test(sessionId) ? sessionId : null);
        if (taskId === null) throw RequestError.sessionNotFound(sessionId);
        await replay(operations, client, begin(sessionId, taskId), signal);
        return {};
      }),
    )
    .onRequest("session/prompt", ({ params: { sessionId, prompt }, client, signal }) =>
      refusing(async () => {
        const session = open.get(sessionId);
        if (!session) throw RequestError.sessionNotFound(sessionId);
        if (session.isBusy) throw RequestError.invalidRequest({ sessionId }, "the session has a prompt that has not ended");
        session.isBusy = true;
        try {
          await send(parts, session, messageOf(prompt), signal);
          return { stopReason: await follow(operations, client, session, signal) };
        } finally {
          session.isBusy = false;
        }
      }),
    )
    .onNotification("session/cancel", async ({ params: { sessionId }, signal }) => {
      const taskId = open.get(sessionId)?.taskId;
      // A refusal has no answer: the prompt that it is about ends by itself.
      if (taskId) await operations.call("task.stop", { task_id: taskId }, signal).catch(() => undefined);
    });
}

/** Creates the task of a session, or sends the message to it. */
async function send({ operations, sessions, creation }: AgentParts, session: Session, message: Json, signal: AbortSignal): Promise<void> {
  if (session.taskId !== null) return void (await operations.call("task.sendMessage", { task_id: session.taskId, message }, signal));
  const { task_id } = await operations.call("task.create", { interactive_mode: true, ...creation, message }, signal);
  session.taskId = String(task_id);
  sessions.save(session.id, session.taskId);
}

/** Shows the turn until it ends, and asks the user about actions. A question ends the turn of the editor: the next prompt answers it. */
async function follow(operations: Operations, client: AgentContext, session: Session, signal: AbortSignal): Promise<StopReason> {
  const taskId = String(session.taskId);
  const narrate = createNarrator();
  for (;;) {
    const seen: TaskEvent[] = [];
    for await (const item of operations.watch(taskId, session.seq, signal)) {
      for (const passage of narrate(item)) await show(client, session, passage);
      if (!("event" in item)) continue;
      session.seq = item.event.seq;
      if (item.event.type === "user_stop" || item.event.type === "error_message") seen.push(item.event);
    }
    const task = await readTask(operations, taskId, signal);
    const waiting = waitingOf(task);
    if (!waiting || isQuestion(waiting)) return endOf(task, seen);
    const decision = await decide(operations, client, session.id, task, waiting, signal);
    if (decision === "decided") continue;
    if (decision === "still waits") await update(client, session, notice("The action does not run. Your next message drops it."));
    if (decision === "cannot ask") await update(client, session, notice(whereToDecide(waiting)));
    return decision === "cancelled" ? "cancelled" : "end_turn";
  }
}

/** An action without room says so itself. */
function whereToDecide(waiting: Waiting): string {
  const { text, isWhole } = showAct(waiting);
  return isWhole ? `An action waits for a decision: ${waiting.taskUrl}` : text;
}

function endOf({ status }: Json, seen: readonly TaskEvent[]): StopReason {
  if (seen.some(({ type }) => type === "user_stop")) return "cancelled";
  const failure = seen.findLast(({ type }) => type === "error_message");
  if (status !== "error") return "end_turn";
  const { error_type: code, content } = failure ? detailsOf(failure) : {};
  throw RequestError.internalError({ code }, String(content ?? "the task failed"));
}

async function show(client: AgentContext, session: Session, passage: Passage): Promise<void> {
  for (const one of session.updates(passage)) await update(client, session, one);
}

const update = (client: AgentContext, { id }: Session, one: SessionUpdate): Promise<void> =>
  client.notify("session/update", { sessionId: id, update: one });

/** Shows the history of a task, as the editor of the session did. */
async function replay(operations: Operations, client: AgentContext, session: Session, signal: AbortSignal): Promise<void> {
  const task = await readTask(operations, String(session.taskId), signal);
  session.seq = Number(task["last_seq"]);
  const narrate = createNarrator();
  for (const event of await readEvents(operations, String(session.taskId), session.seq, signal)) {
    if (event.type === "user_message") await update(client, session, userMessage(event));
    else for (const passage of narrate({ event })) await show(client, session, passage);
  }
}

/** Refusals of operations as errors of the protocol. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const { code, message, field, retryAfter } = thrown;
    const data = { code, field, retry_after_seconds: retryAfter };
    throw code === "invalid_argument" ? RequestError.invalidParams(data, message) : RequestError.internalError(data, message);
  }
}
