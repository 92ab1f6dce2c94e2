import type { Scope } from "../core/accounts/caller.ts";
import { openInput } from "../core/actions/action.ts";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { connectorsOf, toUsableConnector } from "../core/connectors/use.ts";
import type { Attachment } from "../core/files/file.ts";
import type { ReadFile } from "../core/files/files.ts";
import type { Ids } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { PermissionRule } from "../core/permissions/rule.ts";
import type { OpenSkill } from "../core/skills/content.ts";
import { skillsOfTask, type TaskSkill } from "../core/skills/task-skills.ts";
import type { Tx } from "../core/store.ts";
import type { EventPayloads, EventType, TaskEvent } from "../core/tasks/event.ts";
import { type HistoryEntry, readPast, toHistory } from "../core/tasks/history.ts";
import { referencesOf } from "../core/tasks/message.ts";
import { readUpTo, type Task } from "../core/tasks/task.ts";
import type { ReadTranscript } from "../core/tasks/transcript.ts";
import { joinInstructions } from "../core/tasks/turn-request.ts";
import type { WorkspaceOf } from "../core/workspaces/open.ts";
import type { AttachedFile, Decision, Earlier, EarlierMessage, Person, Turn, TurnSkill } from "./agent.ts";
import { toAttachedFile } from "./attached-file.ts";
import { fetchSources } from "./fetch-sources.ts";
import { permitUses } from "./permissions.ts";
import { subtasksFor } from "./subtasks.ts";

const pageMax = 1000;

/** Types of events that are not added by the agent while it runs. */
const notByAgent: ReadonlySet<EventType> = new Set(["user_message", "status_update", "user_stop"]);

export interface TurnParts {
  readonly store: Tx;
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly readFile: ReadFile;
  readonly readTranscript: ReadTranscript;
  readonly workspaceOf: WorkspaceOf;
  readonly openSkill: OpenSkill;
  readonly ids: Ids;
  /** The rules of the installation; absent: none. */
  readonly permissions?: readonly PermissionRule[];
}

/** A turn with the events that it was built from. */
export interface OpenedTurn extends Omit<Turn, "reserve"> {
  readonly written: readonly TaskEvent[];
  /** The entries of `earlier`, with the references to their files. */
  readonly history: readonly HistoryEntry[];
  /** The messages to answer, each with its attachments. */
  readonly asked: readonly EventPayloads["user_message"][];
}

export interface ClaimedInput {
  /** The events since the last turn, up to the messages of this one; null when they have to be read. */
  readonly events?: readonly TaskEvent[] | null;
  /** False when the task has no row of selected skills, connectors and browsers. */
  readonly mayHaveResources?: boolean;
  /** False when no skill can be the task's. */
  readonly mayHaveSkills?: boolean;
}

/** Reads an agent's input for the current turn of a task. */
export async function openTurn(
  parts: TurnParts,
  task: Task,
  signal: AbortSignal,
  { events = null, mayHaveResources = true, mayHaveSkills = true }: ClaimedInput = {},
): Promise<OpenedTurn> {
  const { store, clock, cipher, readFile, workspaceOf, openSkill, ids } = parts;
  const { id, consumedSeq } = task;
  // The reads are independent: a remote database answers them at the same time.
  const mayHaveTools = mayHaveResources && task.parentId !== null;
  const [
    since,
    past,
    projectInstruction,
    skills,
    { turnRequest, ...briefing },
    progress,
    connectors,
    limited,
  ] = await Promise.all([
    events ?? readSince(store, task),
    readPast(store.events, task),
    instructionOf(store, task),
    mayHaveSkills ? skillsOfTask(store, task) : [],
    task.hasOutputSchema || task.hasMemoOrRequest
      ? store.tasks.turnInput(id)
      : { outputSchema: null, memo: null, turnRequest: null },
    task.lastSeq > consumedSeq ? progressOf(store, cipher, task) : { decisions: [], written: [] },
    mayHaveResources ? connectorsOf(store, task) : [],
    mayHaveTools ? store.taskResources.find(id) : null,
  ]);
  const workspace = workspaceOf(task, signal);
  const ownInstruction = turnRequest?.instruction ?? "";
  const messages = since.filter((event) => event.type === "user_message");
  const history = toHistory(past, since);
  const steering = await steeringOf({ store, readFile }, task);
  const attachments = [
    ...messages.flatMap(({ payload }) => filesOf(payload, readFile)),
    ...steering.read.flatMap(({ files = [] }) => files),
  ];
  return {
    taskId: id,
    title: task.title,
    locale: task.locale,
    profile: task.agentProfile,
    number: consumedSeq,
    instruction: joinInstructions(projectInstruction, ownInstruction),
    ownInstruction,
    projectInstruction,
    interactive: task.interactive,
    earlier: history.map((entry) => toEarlier(entry, readFile)),
    history,
    messages: messages.map(({ payload }) => payload.content),
    asked: messages.map(({ payload }) => payload),
    attachments,
    async unread() {
      const found = await steering.unread();
      attachments.push(...found.flatMap(({ files = [] }) => files));
      return found;
    },
    workspace,
    isSubtask: task.parentId !== null,
    tools: limited?.tools ?? null,
    references: referencesOf(store, task),
    skills: skills.map((skill) => toGivenSkill(skill, openSkill)),
    ...briefing,
    ...progress,
    person: () => personOf(store, task),
    transcript: () => Array.fromAsync(parts.readTranscript(id)),
    connectors: connectors.map(toUsableConnector),
    owner: { accountId: task.accountId, spaceId: task.spaceId, clientId: task.clientId },
    sources: fetchSources(store, task),
    permit: permitUses(store, task, parts.permissions ?? []),
    ...(await subtasksFor({ store, ids, readFile, workspace }, task)),
    claim: task.claims,
    clock,
    signal,
  };
}

/** The events from the last turn to the messages of this one. */
const readSince = (store: Tx, { id, answeredSeq, consumedSeq }: Task): Promise<readonly TaskEvent[]> =>
  Array.fromAsync(eventsOf(store, id, { afterSeq: answeredSeq, beforeSeq: consumedSeq + 1 }));

/** Reads the messages that have come since the turn began: those that were read, and new ones. */
async function steeringOf(
  { store, readFile }: Pick<TurnParts, "store" | "readFile">,
  { id, consumedSeq, readSeq }: Task,
): Promise<{
  readonly read: readonly EarlierMessage[];
  unread(): Promise<readonly EarlierMessage[]>;
}> {
  let last = readUpTo({ consumedSeq, readSeq });
  async function list(window: { afterSeq: number; beforeSeq?: number }): Promise<readonly EarlierMessage[]> {
    const more = { order: "asc", limit: pageMax, verbose: false, types: ["user_message"] } as const;
    const found = (await store.events.list(id, { ...window, ...more })).flatMap((event) =>
      event.type === "user_message" ? [event] : [],
    );
    const held = found.findIndex(({ payload }) => payload.delivery === "next_turn");
    return found.slice(0, held < 0 ? undefined : held).map(({ seq, payload }) => {
      const files = filesOf(payload, readFile);
      return { seq, role: "user", content: payload.content, files } as const;
    });
  }
  return {
    read: last > consumedSeq ? await list({ afterSeq: consumedSeq, beforeSeq: last + 1 }) : [],
    async unread() {
      const task = await store.tasks.byId(id);
      const found = task && task.messageSeq > last ? await list({ afterSeq: last }) : [];
      last = found.at(-1)?.seq ?? last;
      return found;
    },
  };
}

/** The progress of the turn: its decisions and the agent's written events. */
async function progressOf(
  store: Tx,
  cipher: Cipher,
  { id, consumedSeq }: Task,
): Promise<Pick<OpenedTurn, "decisions" | "written">> {
  const actions = await store.actions.after(id, consumedSeq);
  const uses = new Set(actions.map(({ actionId }) => actionId));
  const isOwn = (event: TaskEvent) =>
    !notByAgent.has(event.type) && !(event.type === "tool_used" && uses.has(event.payload.actionId));
  const events = await Array.fromAsync(eventsOf(store, id, { afterSeq: consumedSeq, verbose: true }));
  const written = events.filter(isOwn);
  const paramsBySeq = new Map(
    events.flatMap(({ seq, type, payload }) =>
      type === "tool_used" && payload.params ? [[seq, payload.params]] : [],
    ),
  );
  const decided = actions.filter(({ state }) => state !== "pending" && state !== "dismissed");
  const decisions = decided.map((action) => ({
    kind: action.kind,
    accepted: action.state !== "cancelled",
    input: openInput(cipher, action),
    ...paramsOf(paramsBySeq.get(action.seq)),
  }));
  return { decisions, written };
}

const paramsOf = (params: JsonObject | undefined): Pick<Decision, "params"> =>
  params === undefined ? {} : { params };

async function personOf(store: Tx, { accountId, spaceId, scheduleId }: Task): Promise<Person> {
  const [profile, schedule] = await Promise.all([
    store.accounts.profile(accountId, spaceId),
    scheduleId === null ? null : store.schedules.byId(scheduleId),
  ]);
  return { name: profile?.name ?? null, timeZone: schedule?.timeZone ?? "UTC" };
}

async function instructionOf(store: Tx, { projectId, accountId, spaceId }: Task): Promise<string> {
  const scope: Scope = { accountId, spaceId };
  const project = projectId === null ? null : await store.projects.find(scope, projectId);
  return project?.instruction ?? "";
}
/** Reads the events after a sequence number, page by page. */
async function* eventsOf(
  store: Tx,
  taskId: string,
  { afterSeq, verbose = false, ...bound }: { afterSeq: number; beforeSeq?: number; verbose?: boolean },
): AsyncGenerator<TaskEvent, void, void> {
  for (let from = afterSeq; ; ) {
    const page = await store.events.list(taskId, {
      ...bound,
      afterSeq: from,
      order: "asc",
      limit: pageMax,
      verbose,
    });
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageMax) return;
    from = last.seq;
  }
}

function toEarlier(entry: HistoryEntry, readFile: ReadFile): Earlier {
  if (entry.role === "tool") return entry;
  const { seq, role, content } = entry;
  const files = filesOf(entry, readFile);
  return { seq, role, content, ...(files.length === 0 ? {} : { files }) };
}

const filesOf = (
  { attachments = [] }: { attachments?: readonly Attachment[] },
  readFile: ReadFile,
): readonly AttachedFile[] => attachments.map((attachment) => toAttachedFile(attachment, readFile));

const toGivenSkill = ({ id, name, description, forced }: TaskSkill, openSkill: OpenSkill): TurnSkill => ({
  id,
  name,
  description,
  forced,
  ...openSkill({ id }),
});
