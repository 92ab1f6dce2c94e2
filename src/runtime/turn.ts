import type { Scope } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { Tx } from "../core/store.ts";
import type { EventType, TaskEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Said, Turn } from "./agent.ts";

/** So much of what was said in earlier turns is given to an agent. */
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
  const { id, answeredSeq, consumedSeq } = task;
  const before =
    answeredSeq === 0 ? [] : await store.events.list(id, { beforeSeq: answeredSeq + 1, order: "desc", limit: earlierMax, verbose: false });
  const since = await Array.fromAsync(eventsOf(store, id, { afterSeq: answeredSeq, beforeSeq: consumedSeq + 1 }));
  const messages = since.filter(({ type }) => type === "user_message");
  // What was said at the end of the last turn stands among the messages that this one answers.
  const earlier = [...before.toReversed(), ...since.filter(({ type }) => type !== "user_message")];
  return {
    turn: {
      taskId: id,
      title: task.title,
      locale: task.locale,
      profile: task.agentProfile,
      instruction: await instructionOf(store, task),
      earlier: earlier.flatMap(saidIn).slice(-earlierMax),
      messages: messages.flatMap(saidIn).map(({ content }) => content),
      outputSchema: task.armed ? await store.tasks.outputSchema(id) : null,
      claim: task.claims,
      clock,
      signal,
    },
    written: task.claims === 1 ? 0 : await countWritten(store, task),
  };
}

async function instructionOf(store: Tx, { projectId, accountId, spaceId }: Task): Promise<string> {
  const scope: Scope = { accountId, spaceId };
  const project = projectId === null ? null : await store.projects.find(scope, projectId);
  return project?.instruction ?? "";
}

async function countWritten(store: Tx, { id, consumedSeq }: Task): Promise<number> {
  let written = 0;
  for await (const { type } of eventsOf(store, id, { afterSeq: consumedSeq, verbose: true })) if (!notByAgent.has(type)) written += 1;
  return written;
}

/** Events after a number, page by page. */
async function* eventsOf(
  store: Tx,
  taskId: string,
  { afterSeq, verbose = false, ...bound }: { readonly afterSeq: number; readonly beforeSeq?: number; readonly verbose?: boolean },
): AsyncGenerator<TaskEvent, void, void> {
  for (let from = afterSeq; ; ) {
    const page = await store.events.list(taskId, { ...bound, afterSeq: from, order: "asc", limit: pageMax, verbose });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageMax) return;
    from = last.seq;
  }
}

function saidIn(event: TaskEvent): readonly Said[] {
  if (event.type === "user_message") return [{ role: "user", content: event.payload.content }];
  return event.type === "assistant_message" ? [{ role: "assistant", content: event.payload.content }] : [];
}
