import { isQuestion } from "../actions/kind.ts";
import { appOf, type Caller, reachesProjects } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { connectorsAtCreate, connectorsAtSend } from "../connectors/resolve.ts";
import { absent, Failure } from "../failure.ts";
import { dropArtefacts } from "../files/files.ts";
import type { Ids } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { checkNamed } from "../skills/named.ts";
import type { SkillPlace } from "../skills/skill.ts";
import type { Tx } from "../store.ts";
import { holdMember } from "../teams/hold.ts";
import type { Visibility } from "../visibility.ts";
import { isTold } from "../webhooks/events.ts";
import { dropWorkspace } from "../workspaces/workspace.ts";
import type { Backlog } from "./backlog.ts";
import { begin, queueMessage, resume, stop } from "./lifecycle.ts";
import { keepMeans, noMeans } from "./means.ts";
import { addReferences, localeOf, messageText, titleOf, type UserInput } from "./message.ts";
import { restingTask } from "./new-task.ts";
import { defaultProfile, parseProfile } from "./profile.ts";
import type { TaskSteps } from "./steps.ts";
import type { Task, TaskView } from "./task.ts";

/** What task.create is asked for, beyond the message. */
export interface NewTask {
  readonly input: UserInput;
  readonly projectId?: string;
  readonly locale?: string;
  readonly interactive: boolean;
  readonly hidden: boolean;
  readonly shareVisibility: Visibility;
  readonly agentProfile?: string;
  readonly title?: string;
  /** Was checked by `checkSchema`. */
  readonly outputSchema?: JsonObject | undefined;
}

/** What task.sendMessage may set beside the message; absent stays as it is. */
export interface NewTurn {
  readonly agentProfile?: string | undefined;
  /** Its connectors are taken from it (contract/v2.md 9.9). */
  readonly clearConnectors?: boolean;
  /** Was checked by `checkSchema`. */
  readonly outputSchema?: JsonObject | undefined;
}

/** What task.update may change; absent stays as it is. */
export interface TaskEdit {
  readonly title?: string;
  readonly shareVisibility?: Visibility;
  readonly hidden?: boolean;
}

/** Tasks of a caller: each method is one operation of contract/v2.md 8.1 to 8.7. */
export interface Tasks {
  create(tx: Tx, caller: Caller, wanted: NewTask): Promise<Task>;
  get(tx: Tx, caller: Caller, id: string): Promise<TaskView>;
  update(tx: Tx, caller: Caller, id: string, edit: TaskEdit): Promise<Task>;
  stop(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** @param how a running task is refused, or, with `stop`, stopped first. */
  remove(tx: Tx, caller: Caller, id: string, how: { readonly stop: boolean }): Promise<void>;
  /** Answers the task's id, also when a shortcut was given. */
  send(tx: Tx, caller: Caller, id: string, input: UserInput, turn: NewTurn): Promise<string>;
}

/** The most milliseconds for which an answer is held until its events lie in the past. */
const settleMs = 50;

/** What the operations need of their surroundings. */
export interface TasksParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly backlog: Pick<Backlog, "enter">;
  readonly steps: TaskSteps;
  /** The events of a team's deleted tasks stay for a while, for its exports only (contract/decisions.md 14). */
  readonly keepsEvents: boolean;
}

export function tasks({ clock, ids, backlog, steps, keepsEvents }: TasksParts): Tasks {
  const { locked, advance, enqueue } = steps;

  /** A message instead of a decision: what was to be done is dropped; only a question leaves the agent something (contract/decisions.md 19). */
  async function unasked(tx: Tx, { id, status }: Task): Promise<{ readonly memo?: null }> {
    if (status !== "waiting") return {};
    const kind = await tx.actions.dismiss(id);
    return kind === null || isQuestion(kind) ? {} : { memo: null };
  }

  return {
    async create(tx, caller, wanted) {
      await holdMember(tx, caller);
      const text = messageText(wanted.input);
      const { means = noMeans } = wanted.input;
      const agentProfile = parseProfile(wanted.agentProfile, defaultProfile);
      await checkProject(tx, caller, wanted.projectId);
      await checkReferences(tx, caller, wanted.input);
      await checkNamed(tx, caller, placeOf(caller, wanted.projectId), means);
      backlog.enter();
      const task = newTask(
        ids.short(),
        caller,
        { ...wanted, agentProfile, title: wanted.title?.trim() || titleFrom(text, wanted.input) },
        clock.now(),
      );
      const created = await tx.tasks.insert(task, begin(text, wanted.input));
      if (wanted.outputSchema) await advance(tx, task.id, { outputSchema: wanted.outputSchema });
      await keepMeans(tx, task, means, await connectorsAtCreate(tx, caller, means, task.projectId));
      await enqueue(tx, task);
      const { projectId = null } = wanted;
      tx.audit.note({ subject: task.id, after: { agentProfile, projectId, shareVisibility: created.shareVisibility } });
      return created;
    },

    async get(tx, caller, id) {
      const task = await tx.tasks.find(caller, id);
      if (!task) throw absent("task");
      return task;
    },

    async update(tx, caller, id, edit) {
      const before = await locked(tx, caller, id);
      const visible = edit.shareVisibility === undefined ? {} : { shareVisibility: effective(edit.shareVisibility, caller) };
      // A title may be what was said, so that only the change of it is told.
      const retitled = edit.title === undefined ? {} : { retitled: true };
      const hidden = edit.hidden === undefined ? {} : { hidden: edit.hidden };
      const after = await advance(tx, before.id, { ...edit, ...visible });
      tx.audit.note({
        subject: before.id,
        before: { shareVisibility: before.shareVisibility },
        after: { ...(edit.shareVisibility === undefined ? {} : { shareVisibility: after.shareVisibility }), ...hidden, ...retitled },
      });
      return after;
    },

    async stop(tx, caller, id) {
      const task = await locked(tx, caller, id);
      tx.audit.note({ subject: task.id, before: { status: task.status } });
      if (task.status !== "running" && task.status !== "waiting") return;
      if (task.status === "waiting") await tx.actions.dismiss(task.id);
      const { lastTimestamp, status } = await advance(tx, task.id, stop.set, stop.events);
      tx.audit.note({ after: { status } });
      // The next request must not be older than the events of this one (clients.md 13).
      tx.afterCommit(() => clock.sleep(Math.min(settleMs, Math.max(0, lastTimestamp - clock.now()))));
    },

    async remove(tx, caller, id, how) {
      const task = await locked(tx, caller, id);
      const personal = caller.role === null;
      if (task.agentId !== null) throw new Failure("precondition", "a task of an agent cannot be deleted");
      if (task.status === "running") {
        if (!how.stop) throw new Failure("precondition", "the task is running: stop it first");
        await advance(tx, id, stop.set, stop.events);
      }
      // What waited waits no longer; a failed one keeps its status for the exports.
      if (task.status === "waiting") await advance(tx, id, { status: "stopped" });
      await tx.actions.erase(id);
      await tx.workerEvents.erase(id);
      if (personal || !keepsEvents) await tx.events.erase(id);
      await tx.replays.forget(id);
      await tx.means.erase(id);
      if (isTold(task)) await tx.webhookEvents.forget(id);
      await dropArtefacts(tx, id);
      await dropWorkspace(tx, id);
      const now = clock.now();
      await tx.websites.eraseOf(id, now, personal);
      await tx.tasks.bury(id, now, personal);
      tx.audit.note({ subject: id, before: { status: task.status } });
    },

    async send(tx, caller, id, input, { agentProfile, outputSchema, clearConnectors = false }) {
      await holdMember(tx, caller);
      const text = messageText(input);
      const { means = noMeans } = input;
      const task = await locked(tx, caller, id);
      await checkReferences(tx, caller, input);
      await checkNamed(tx, caller, task, means);
      const chosen = {
        agentProfile: parseProfile(agentProfile, task.agentProfile),
        references: addReferences(task.references, input.references, task.id),
        ...(outputSchema ? { outputSchema } : {}),
        ...(await unasked(tx, task)),
      };
      const running = task.status === "running";
      if (!running) backlog.enter();
      const step = running ? queueMessage(text, input) : resume(text, clock.now(), input);
      await advance(tx, task.id, { ...step.set, ...chosen }, step.events);
      await keepMeans(tx, task, means, await connectorsAtSend(tx, caller, means, clearConnectors, task.id));
      if (!running) await enqueue(tx, { id: task.id, agentProfile: chosen.agentProfile });
      tx.audit.note({ subject: task.id, before: { status: task.status }, after: { agentProfile: chosen.agentProfile } });
      return task.id;
    },
  };
}

/** Where a new task will stand. */
const placeOf = (caller: Caller, projectId: string | undefined): SkillPlace => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  projectId: projectId ?? null,
  clientId: appOf(caller),
});

async function checkProject(tx: Tx, caller: Caller, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const project = reachesProjects(caller) ? await tx.projects.find(caller, id) : null;
  if (!project) throw absent("project", "project_id");
}

/** Access to references is checked when the agent reads them, but for an app that sees its own tasks only (contract/v2.md 9.8). */
async function checkReferences(tx: Tx, caller: Caller, { references }: UserInput): Promise<void> {
  if (caller.clientId === undefined || references.length === 0) return;
  const ids = [...new Set(references)];
  if ((await tx.tasks.countVisible(caller, ids)) < ids.length) throw absent("task", "message.task_references");
}

/** The text's, or else the first file's. */
const titleFrom = (text: string, { attachments = [] }: UserInput): string => titleOf(text) || titleOf(attachments[0]?.filename ?? "");

/** `team` needs a team: in a personal space it takes effect as `private` (contract/v2.md 14.2). */
const effective = (wanted: Visibility, caller: Caller): Visibility => (wanted === "team" && caller.role === null ? "private" : wanted);

/** A task before its first event. */
const newTask = (
  id: string,
  caller: Caller,
  wanted: NewTask & { readonly agentProfile: string; readonly title: string },
  now: number,
): Task => ({
  ...restingTask(id, caller, now),
  clientId: appOf(caller),
  apiKeyId: caller.credential.kind === "key" ? caller.credential.id : null,
  projectId: wanted.projectId ?? null,
  type: wanted.projectId === undefined ? "standard" : "project",
  title: wanted.title,
  status: "running",
  shareVisibility: effective(wanted.shareVisibility, caller),
  hidden: wanted.hidden,
  agentProfile: wanted.agentProfile,
  locale: localeOf(wanted.locale, caller.locale),
  interactive: wanted.interactive,
  references: addReferences([], wanted.input.references, id),
});
