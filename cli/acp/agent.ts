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
import {
  type CreateTaskRequest,
  isQuestion,
  type MessageInput,
  type Task,
  type TaskEvent,
} from "../../packages/client/src/index.ts";
import { readEvents } from "../../src/narration/history.ts";
import { createNarrator, type Passage } from "../../src/narration/narrate.ts";
import { showAct } from "../../src/protocols/shared/ask.ts";
import { type CallerClient, watchTurn } from "../../src/protocols/shared/caller-client.ts";
import { refusalOf } from "../../src/protocols/shared/refusal.ts";
import { readTask, type Waiting, waitingOf } from "../../src/protocols/shared/turn.ts";
import { decide } from "./decide.ts";
import { messageOf } from "./prompt.ts";
import type { StoredSessions } from "./sessions.ts";
import { createUpdates, notice, userMessage } from "./updates.ts";

/** The dependencies of the agent. */
export interface AgentParts {
  /** A client whose calls end with a signal. */
  clientUntil(ended: AbortSignal): CallerClient;
  readonly sessions: StoredSessions;
  /** Members of `task.create`, for example `agent_profile`. */
  readonly creation: Omit<CreateTaskRequest, "message">;
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

/**
 * The agent of an editor (ACP version 1): each session is a task, and each prompt a message to it. It holds
 * no policy.
 */
export function createAgent(parts: AgentParts): AgentApp {
  const { clientUntil, sessions, version } = parts;
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
        await replay(clientUntil(signal), client, begin(sessionId, taskId), taskId);
        return {};
      }),
    )
    .onRequest("session/prompt", ({ params: { sessionId, prompt }, client, signal }) =>
      refusing(async () => {
        const session = open.get(sessionId);
        if (!session) throw RequestError.sessionNotFound(sessionId);
        if (session.isBusy)
          throw RequestError.invalidRequest({ sessionId }, "the session has a prompt that has not ended");
        session.isBusy = true;
        try {
          const caller = clientUntil(signal);
          const taskId = await send(caller, parts, session, messageOf(prompt));
          return { stopReason: await follow(caller, client, session, taskId, signal) };
        } finally {
          session.isBusy = false;
        }
      }),
    )
    .onNotification("session/cancel", async ({ params: { sessionId }, signal }) => {
      const taskId = open.get(sessionId)?.taskId;
      // A refusal has no answer: the prompt that it is about ends by itself.
      if (taskId)
        await clientUntil(signal)
          .tasks.stop({ task_id: taskId })
          .catch(() => undefined);
    });
}

/** Creates the task of a session, or sends the message to it. */
async function send(
  client: CallerClient,
  { sessions, creation }: AgentParts,
  session: Session,
  message: MessageInput,
): Promise<string> {
  if (session.taskId !== null) {
    await client.tasks.sendMessage({ task_id: session.taskId, message });
    return session.taskId;
  }
  const { task_id } = await client.call("task.create", { interactive_mode: true, ...creation, message });
  session.taskId = task_id;
  sessions.save(session.id, task_id);
  return task_id;
}

/**
 * Shows the turn until it ends, and asks the user about actions. A question ends the turn of the editor: the
 * next prompt answers it.
 */
async function follow(
  client: CallerClient,
  editor: AgentContext,
  session: Session,
  taskId: string,
  signal: AbortSignal,
): Promise<StopReason> {
  const narrate = createNarrator();
  for (;;) {
    const seen: TaskEvent[] = [];
    for await (const item of watchTurn(client, taskId, session.seq)) {
      for (const passage of narrate(item)) await show(editor, session, passage);
      if (item.type === "text_delta") continue;
      session.seq = item.seq;
      seen.push(item);
    }
    const task = await readTask(client, taskId);
    const waiting = waitingOf(task);
    if (!waiting || isQuestion(waiting)) return endOf(task, seen);
    const decision = await decide(client, editor, session.id, taskId, waiting, signal);
    if (decision === "decided") continue;
    if (decision === "still waits")
      await update(editor, session, notice("The action does not run. Your next message drops it."));
    if (decision === "cannot ask") await update(editor, session, notice(whereToDecide(waiting)));
    return decision === "cancelled" ? "cancelled" : "end_turn";
  }
}

/** An action without room says so itself. */
function whereToDecide(waiting: Waiting): string {
  const { text, isWhole } = showAct(waiting);
  return isWhole ? `An action waits for a decision: ${waiting.task_url}` : text;
}

function endOf({ status }: Task, seen: readonly TaskEvent[]): StopReason {
  if (seen.some(({ type }) => type === "user_stop")) return "cancelled";
  if (status !== "error") return "end_turn";
  const failure = seen.findLast((event) => event.type === "error_message")?.error_message;
  throw RequestError.internalError({ code: failure?.error_type }, failure?.content ?? "the task failed");
}

async function show(client: AgentContext, session: Session, passage: Passage): Promise<void> {
  for (const one of session.updates(passage)) await update(client, session, one);
}

const update = (client: AgentContext, { id }: Session, one: SessionUpdate): Promise<void> =>
  client.notify("session/update", { sessionId: id, update: one });

/** Shows the history of a task, as the editor of the session did. */
async function replay(
  client: CallerClient,
  editor: AgentContext,
  session: Session,
  taskId: string,
): Promise<void> {
  session.seq = (await readTask(client, taskId)).last_seq;
  const narrate = createNarrator();
  for (const event of await readEvents(client, taskId, session.seq)) {
    if (event.type === "user_message") await update(editor, session, userMessage(event));
    else for (const passage of narrate(event)) await show(editor, session, passage);
  }
}

/** Refusals of operations as errors of the protocol. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    if (refusal === null) throw thrown;
    const { reason, message, path, retryAfter } = refusal;
    const data = { code: reason, field: path, retry_after_seconds: retryAfter };
    throw reason === "invalid_argument"
      ? RequestError.invalidParams(data, message)
      : RequestError.internalError(data, message);
  }
}
