import { openInput } from "../core/actions/sealed.ts";
import type { Scope } from "../core/caller.ts";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { connectorsOf, usable } from "../core/connectors/use.ts";
import type { Attachment } from "../core/files/attachment.ts";
import type { ReadFile } from "../core/files/read.ts";
import type { Ids } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { OpenSkill } from "../core/skills/content.ts";
import { skillsOfTask, type TaskSkill } from "../core/skills/of-task.ts";
import type { Tx } from "../core/store.ts";
import type { EventPayloads, EventType, TaskEvent } from "../core/tasks/event.ts";
import { referencesOf } from "../core/tasks/references.ts";
import type { Task } from "../core/tasks/task.ts";
import type { WorkspaceOf } from "../core/workspaces/open.ts";
import type { Decided, GivenFile, GivenSkill, Said, Turn } from "./agent.ts";
import { subtasksFor } from "./subtasks.ts";

/** So much of what was said in earlier turns is given to an agent. */
const earlierMax = 200;
const pageMax = 1000;

/** Events that others than the agent add while it runs. */
const notByAgent: ReadonlySet<EventType> = new Set(["user_message", "status_update", "user_stop"]);

/** Where turns are read from. */
export interface TurnParts {
  readonly store: Tx;
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly readFile: ReadFile;
  readonly workspaceOf: WorkspaceOf;
  readonly openSkill: OpenSkill;
  readonly ids: Ids;
}

/** A turn with what it was made from. */
export interface OpenedTurn extends Omit<Turn, "reserve"> {
  readonly written: readonly TaskEvent[];
  /** The messages to answer, each with the files that it brought. */
  readonly asked: readonly EventPayloads["user_message"][];
}

/** Reads what an agent needs for the turn that a task is in. */
export async function openTurn(parts: TurnParts, task: Task, signal: AbortSignal): Promise<OpenedTurn> {
  const { store, clock, cipher, readFile, workspaceOf, openSkill, ids } = parts;
  const { id, answeredSeq, consumedSeq } = task;
  // None depends on another, and a database elsewhere answers them at the same time.
  const [before, since, instruction, skills, briefing, progress, connectors] = await Promise.all([
    answeredSeq === 0 ? [] : store.events.list(id, { beforeSeq: answeredSeq + 1, order: "desc", limit: earlierMax, verbose: false }),
    Array.fromAsync(eventsOf(store, id, { afterSeq: answeredSeq, beforeSeq: consumedSeq + 1 })),
    instructionOf(store, task),
    skillsOfTask(store, task),
    task.armed || task.recalls ? store.tasks.briefing(id) : { outputSchema: null, memo: null },
    task.lastSeq > consumedSeq ? progressOf(store, cipher, task) : { decisions: [], written: [] },
    connectorsOf(store, task),
  ]);
  const messages = since.filter((event) => event.type === "user_message");
  // What was said at the end of the last turn stands among the messages that this one answers.
  const earlier = [...before.toReversed(), ...since.filter(({ type }) => type !== "user_message")];
  return {
    taskId: id,
    title: task.title,
    locale: task.locale,
    profile: task.agentProfile,
    instruction,
    interactive: task.interactive,
    earlier: earlier.flatMap(saidIn).slice(-earlierMax),
    messages: messages.flatMap(saidIn).map(({ content }) => content),
    asked: messages.map(({ payload }) => payload),
    attachments: messages.flatMap(attachmentsIn).map((attachment) => givenFile(attachment, readFile)),
    earlierAttachments: earlier.flatMap(attachmentsIn).map((attachment) => givenFile(attachment, readFile)),
    workspace: workspaceOf(task, signal),
    references: referencesOf(store, task),
    skills: skills.map((skill) => givenSkill(skill, openSkill)),
    ...briefing,
    ...progress,
    connectors: connectors.map(usable),
    owner: { accountId: task.accountId, spaceId: task.spaceId, clientId: task.clientId },
    ...(await subtasksFor({ store, ids }, task)),
    claim: task.claims,
    clock,
    signal,
  };
}

/** How far the turn has come: what was decided in it, and what the agent itself has written. */
async function progressOf(store: Tx, cipher: Cipher, { id, consumedSeq }: Task): Promise<Pick<OpenedTurn, "decisions" | "written">> {
  const actions = await store.actions.after(id, consumedSeq);
  const uses = new Set(actions.map(({ actionId }) => actionId));
  const isOwn = (event: TaskEvent) => !notByAgent.has(event.type) && !(event.type === "tool_used" && uses.has(event.payload.actionId));
  const events = await Array.fromAsync(eventsOf(store, id, { afterSeq: consumedSeq, verbose: true }));
  const written = events.filter(isOwn);
  const asked = new Map(
    events.flatMap(({ seq, type, payload }) => (type === "tool_used" && payload.params ? [[seq, payload.params]] : [])),
  );
  const decided = actions.filter(({ state }) => state !== "pending" && state !== "dismissed");
  const decisions = decided.map((action) => ({
    kind: action.kind,
    accepted: action.state !== "cancelled",
    input: openInput(cipher, action),
    ...paramsOf(asked.get(action.seq)),
  }));
  return { decisions, written };
}

const paramsOf = (params: JsonObject | undefined): Pick<Decided, "params"> => (params === undefined ? {} : { params });

async function instructionOf(store: Tx, { projectId, accountId, spaceId }: Task): Promise<string> {
  const scope: Scope = { accountId, spaceId };
  const project = projectId === null ? null : await store.projects.find(scope, projectId);
  return project?.instruction ?? "";
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

const attachmentsIn = (event: TaskEvent): readonly Attachment[] => (event.type === "user_message" ? (event.payload.attachments ?? []) : []);

const givenFile = ({ fileId, filename, contentType, bytes }: Attachment, readFile: ReadFile): GivenFile => ({
  ...{ filename, contentType, bytes },
  read: () => readFile(fileId),
});

const givenSkill = ({ id, name, description, forced, ...kept }: TaskSkill, openSkill: OpenSkill): GivenSkill => ({
  ...{ id, name, description, forced },
  ...openSkill(kept),
});
