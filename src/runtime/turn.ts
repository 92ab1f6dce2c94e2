import type { Scope } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { Tx } from "../core/store.ts";
import type { EventType, TaskEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Said, Turn } from "./agent.ts";

/** So much of what was said before is given to an agent. */
const earlierMax = 200;
const pageMax = 1000;

/** Events that others than the agent add while it runs. */
const notByAgent: ReadonlySet<EventType> = new Set(["user_message", "status_update", "user_stop"]);

/** A turn, and how many of its events are written already. */
export interface OpenTurn {
  readonly turn: Turn;
  readonly written: number;
}

/** Reads what an agent needs for the turn that a task is in. */
export async function openTurn(store: Tx, task: Task, clock: Clock, signal: AbortSignal): Promise<OpenTurn> {
  const said = await store.events.list(task.id, { beforeSeq: task.consumedSeq + 1, order: "desc", limit: earlierMax, verbose: false });
  const messages = said.filter((event) => event.type === "user_message" && event.seq > task.answeredSeq);
  const scope: Scope = { accountId: task.accountId, spaceId: task.spaceId };
  const project = task.projectId === null ? null : await store.projects.find(scope, task.projectId);
  return {
    turn: {
      taskId: task.id,
      title: task.title,
      locale: task.locale,
      profile: task.agentProfile,
      instruction: project?.instruction ?? "",
      earlier: said.filter((event) => !messages.includes(event)).toReversed().flatMap(saidIn),
      messages: messages.toReversed().flatMap(saidIn).map(({ content }) => content),
      claim: task.claims,
      clock,
      signal,
    },
    written: task.claims === 1 ? 0 : await countWritten(store, task),
  };
}

async function countWritten(store: Tx, task: Task): Promise<number> {
  let written = 0;
  for (let afterSeq = task.consumedSeq; ; ) {
    const page = await store.events.list(task.id, { afterSeq, order: "asc", limit: pageMax, verbose: true });
    written += page.filter(({ type }) => !notByAgent.has(type)).length;
    const last = page.at(-1);
    if (!last || page.length < pageMax) return written;
    afterSeq = last.seq;
  }
}

function saidIn(event: TaskEvent): readonly Said[] {
  if (event.type === "user_message") return [{ role: "user", content: event.payload.content }];
  return event.type === "assistant_message" ? [{ role: "assistant", content: event.payload.content }] : [];
}
