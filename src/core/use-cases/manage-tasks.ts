import { together } from "../../async/together.ts";
import { appOf, type Caller, canAccessProjects, keyOf, lockActiveMember } from "../accounts/caller.ts";
import { isQuestion } from "../actions/kind.ts";
import type { Clock } from "../clock.ts";
import { connectorsAtCreate, connectorsAtSend } from "../connectors/resolve.ts";
import { defined } from "../defined.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { auditedRules, checkMayGrant, checkMayLose } from "../permissions/grant.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { SkillScope } from "../skills/skill.ts";
import { checkRequestedSkills } from "../skills/task-skills.ts";
import type { PublishTask, Tx } from "../store.ts";
import type { Backlog } from "../tasks/backlog.ts";
import { firstEvents, idleTask, queueMessage, resume, stop, waitingNode } from "../tasks/lifecycle.ts";
import {
  addReferences,
  canonicalLocale,
  deriveTitle,
  messageText,
  type UserInput,
} from "../tasks/message.ts";
import { deliveryOf, type SentMessage, type TurnOptions } from "../tasks/message-delivery.ts";
import { type Metadata, mergeMetadata } from "../tasks/metadata.ts";
import { stopSubtasks } from "../tasks/parents.ts";
import { defaultProfile, type Profiles, profilesOf } from "../tasks/profile.ts";
import type { TaskSteps } from "../tasks/steps.ts";
import type { Task, TaskChanges, TaskView } from "../tasks/task.ts";
import { noResources, saveResources } from "../tasks/task-resources.ts";
import type { TurnRequest } from "../tasks/turn-request.ts";
import { currentTraceparent } from "../trace.ts";
import { computeExtraCost, spend } from "../usage/spend.ts";
import type { Visibility } from "../visibility.ts";
import { deleteTask } from "./delete-task.ts";

/** The input of task.create, in addition to the message. */
export interface TaskInput {
  readonly input: UserInput;
  readonly projectId?: string;
  readonly locale?: string;
  readonly interactive: boolean;
  readonly hidden: boolean;
  readonly shareVisibility: Visibility;
  readonly agentProfile?: string;
  readonly title?: string;
  readonly metadata?: Metadata;
  readonly permissions?: readonly PermissionRule[] | undefined;
  /** `checkSchema` has accepted it. */
  readonly outputSchema?: JsonObject | undefined;
  /** `checkTurnRequest` has accepted it. */
  readonly turnRequest?: TurnRequest | undefined;
  /** The schedule that creates it. */
  readonly scheduleId?: string;
}

/** The fields that task.update may change; absent fields stay as they are. */
export interface TaskEdit {
  readonly title?: string;
  readonly shareVisibility?: Visibility;
  readonly hidden?: boolean;
  /** Null removes the task from its project. */
  readonly projectId?: string | null;
  /** Added to the task's pairs; an empty text removes a pair. */
  readonly metadata?: Metadata;
  /** All rules of the task. They also replace what the user has always allowed in it. */
  readonly permissions?: readonly PermissionRule[];
}

/** Tasks of a caller: each method is one operation of spec/api.md 8.1 to 8.7. */
export interface Tasks {
  /** Checks that `create` would accept the request now; creates nothing. @throws Failure as `create` */
  check(tx: Tx, caller: Caller, request: TaskInput): Promise<void>;
  create(tx: Tx, caller: Caller, request: TaskInput): Promise<Task>;
  get(tx: Tx, caller: Caller, id: string): Promise<TaskView>;
  update(tx: Tx, caller: Caller, id: string, edit: TaskEdit): Promise<Task>;
  stop(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** @param how a running task is refused unless `stop` is set, which stops it first. */
  remove(tx: Tx, caller: Caller, id: string, how: { stop: boolean }): Promise<void>;
  send(tx: Tx, caller: Caller, id: string, input: UserInput, turn: TurnOptions): Promise<SentMessage>;
}

/** The most milliseconds that a response waits until its events are in the past. */
const settleMs = 50;

export interface TasksParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly backlog: Pick<Backlog, "add">;
  readonly steps: TaskSteps;
  readonly publishTask: PublishTask;
  /** The events of a team's deleted tasks are kept for its exports (spec/decisions.md 14). */
  readonly keepsEvents: boolean;
  /** Absent: those of the public API. */
  readonly profiles?: Pick<Profiles, "parse">;
  /** Whether the agent of a profile reads messages while it works. Absent: none does. */
  readonly canSteer?: (profile: string) => boolean;
}

export function tasks({
  clock,
  ids,
  backlog,
  steps,
  publishTask,
  keepsEvents,
  profiles = profilesOf([]),
  canSteer = () => false,
}: TasksParts): Tasks {
  const { lock, advance, insert, enqueue } = steps;

  /**
   * A message instead of a decision dismisses the pending action; only a question keeps its memo
   * (spec/decisions.md 19).
   */
  async function dismissAction(tx: Tx, { id, status }: Task): Promise<{ memo?: null }> {
    if (status !== "waiting") return {};
    const kind = await tx.actions.dismiss(id);
    return kind === null || isQuestion(kind) ? {} : { memo: null };
  }

  /**
   * Charges the transcripts of a message to its task. After its events and its job: tasks share the rows of
   * budgets.
   */
  async function chargeTranscripts(tx: Tx, id: string, { transcriptPrice = 0n }: UserInput): Promise<void> {
    if (transcriptPrice === 0n) return;
    const cost = await computeExtraCost(tx, { id }, transcriptPrice);
    const { task } = await advance(tx, id, { addCredits: cost.charge.credits });
    await spend(tx, task, cost, clock.now(), ids);
  }

  return {
    async check(tx, caller, request) {
      const { resources } = await checkNew(tx, caller, request, profiles);
      mergeMetadata({}, request.metadata ?? {});
      await connectorsAtCreate(tx, caller, resources, request.projectId ?? null);
    },

    async create(tx, caller, request) {
      const { projectId = null, input } = request;
      const [, { text, resources, agentProfile }, connectors, isSubscribed] = await together(
        lockActiveMember(tx, caller),
        checkNew(tx, caller, request, profiles),
        connectorsAtCreate(tx, caller, input.resources ?? noResources, projectId),
        tx.webhookEvents.isSubscribed({ ...caller, clientId: appOf(caller) }),
      );
      backlog.add();
      const task = newTask(
        ids.short(),
        caller,
        { ...request, agentProfile, title: request.title?.trim() || titleFrom(text, input) },
        clock.now(),
      );
      const { outputSchema, turnRequest } = request;
      const set =
        outputSchema || turnRequest
          ? { ...(outputSchema && { outputSchema }), ...(turnRequest && { turnRequest }) }
          : undefined;
      const created = await publishTask(
        tx,
        await insert(tx, task, firstEvents(text, input), { set, isSubscribed }),
      );
      await saveResources(tx, task, resources, connectors);
      await chargeTranscripts(tx, task.id, input);
      tx.audit.note({
        subject: task.id,
        after: {
          agentProfile,
          projectId,
          shareVisibility: created.shareVisibility,
          ...(task.permissions.length > 0 && auditedRules(task)),
        },
      });
      return created;
    },

    async get(tx, caller, id) {
      const task = await tx.tasks.find(caller, id);
      if (!task) throw notFound("task");
      return task;
    },

    async update(tx, caller, id, edit) {
      const before = await lock(tx, caller, id);
      const { title, hidden, metadata, shareVisibility, projectId, permissions } = edit;
      if (permissions) checkMayGrant(caller, before.permissions, permissions);
      const isMoved = projectId !== undefined;
      const { task } = await advance(tx, before.id, {
        ...edit,
        ...(shareVisibility && { shareVisibility: effectiveVisibility(shareVisibility, caller) }),
        ...(metadata && { metadata: mergeMetadata(before.metadata, metadata) }),
        ...(isMoved && (await moveTo(tx, caller, before, projectId))),
        ...(permissions && { allowed: [] }),
      });
      tx.audit.note({
        subject: before.id,
        before: {
          shareVisibility: before.shareVisibility,
          ...(isMoved && { projectId: before.projectId }),
          ...(permissions && auditedRules(before)),
        },
        after: {
          ...(shareVisibility && { shareVisibility: task.shareVisibility }),
          ...defined({ hidden }),
          // A title may contain text of a message, so the log records only that it was changed.
          ...(title !== undefined && { retitled: true }),
          ...(metadata && { metadataKeys: Object.keys(metadata) }),
          ...(isMoved && { projectId: task.projectId }),
          ...(permissions && auditedRules(task)),
        },
      });
      return task;
    },

    async stop(tx, caller, id) {
      const task = await lock(tx, caller, id);
      tx.audit.note({ subject: task.id, before: { status: task.status } });
      if (task.status !== "running" && task.status !== "waiting") return stopSubtasks(tx, task);
      if (task.status === "waiting") await tx.actions.dismiss(task.id);
      const stopped = await publishTask(tx, await advance(tx, task.id, stop.set, stop.events));
      await stopSubtasks(tx, stopped);
      const { lastTimestamp, status } = stopped;
      tx.audit.note({ after: { status } });
      // The next request must not be older than the events of this one (spec/clients.md 13).
      tx.afterCommit(() => clock.sleep(Math.min(settleMs, Math.max(0, lastTimestamp - clock.now()))));
    },

    async remove(tx, caller, id, how) {
      const task = await lock(tx, caller, id);
      const personal = caller.role === null;
      if (task.agentId !== null)
        throw new Failure("failed_precondition", "a task of an agent cannot be deleted");
      if (task.status === "running") {
        if (!how.stop) throw new Failure("failed_precondition", "the task is running: stop it first");
        await publishTask(tx, await advance(tx, id, stop.set, stop.events));
      }
      // A waiting task stops waiting; a failed one keeps its status for the exports.
      if (task.status === "waiting") await publishTask(tx, await advance(tx, id, { status: "stopped" }));
      await stopSubtasks(tx, task);
      await deleteTask(tx, task, { now: clock.now(), personal, keepsEvents });
      tx.audit.note({ subject: id, before: { status: task.status } });
    },

    async send(tx, caller, id, input, turn) {
      const { agentProfile, outputSchema, turnRequest, clearConnectors = false } = turn;
      await lockActiveMember(tx, caller);
      const text = messageText(input);
      const { resources = noResources } = input;
      const task = await lock(tx, caller, id);
      await checkReferences(tx, caller, input);
      await checkRequestedSkills(tx, caller, task, resources);
      const changes = {
        agentProfile: profiles.parse(agentProfile, task.agentProfile),
        references: addReferences(task.references, input.references, task.id),
        traceparent: currentTraceparent(),
        ...(outputSchema ? { outputSchema } : {}),
        ...(turnRequest || task.hasMemoOrRequest ? { turnRequest: turnRequest ?? null } : {}),
        ...(await dismissAction(tx, task)),
      };
      const running = task.status === "running";
      if (!running) backlog.add();
      const { delivery, warnings } = deliveryOf(
        task,
        input,
        { ...turn, agentProfile: changes.agentProfile },
        canSteer,
      );
      const step = running
        ? queueMessage(text, { ...input, ...defined({ delivery }) })
        : resume(text, clock.now(), input);
      const begun = await publishTask(
        tx,
        await advance(tx, task.id, { ...step.set, ...changes }, step.events),
      );
      await saveResources(
        tx,
        task,
        resources,
        await connectorsAtSend(tx, caller, resources, clearConnectors, task.id),
      );
      // The message ends a wait for subtasks.
      if (task.nodeId === waitingNode) await tx.parents.look(task.id);
      if (!running) await enqueue(tx, begun);
      await chargeTranscripts(tx, task.id, input);
      tx.audit.note({
        subject: task.id,
        before: { status: task.status },
        after: { agentProfile: changes.agentProfile },
      });
      return { taskId: task.id, warnings };
    },
  };
}

/**
 * Checks the request of a new task. @throws Failure for content, references, skills, a profile or a project
 * that it cannot have.
 */
async function checkNew(tx: Tx, caller: Caller, request: TaskInput, profiles: Pick<Profiles, "parse">) {
  const text = messageText(request.input);
  const { resources = noResources } = request.input;
  checkMayGrant(caller, [], request.permissions ?? []);
  const agentProfile = profiles.parse(request.agentProfile, defaultProfile);
  await checkProject(tx, caller, request.projectId);
  await checkReferences(tx, caller, request.input);
  await checkRequestedSkills(tx, caller, newTaskPlace(caller, request.projectId), resources);
  return { text, resources, agentProfile };
}

const newTaskPlace = (caller: Caller, projectId: string | undefined): SkillScope => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  projectId: projectId ?? null,
  clientId: appOf(caller),
});

async function checkProject(tx: Tx, caller: Caller, id: string | undefined): Promise<void> {
  if (id === undefined && caller.within !== undefined) throw needsProject();
  if (id === undefined) return;
  const project = canAccessProjects(caller) ? await tx.projects.find(caller, id) : null;
  if (!project) throw notFound("project", "project_id");
}

/**
 * The changes that move a task to a project, or out of its project. The project cannot be deleted until this
 * change ends.
 */
async function moveTo(
  tx: Tx,
  caller: Caller,
  { agentId, parentId, projectId }: Task,
  id: string | null,
): Promise<Pick<TaskChanges, "projectId" | "type">> {
  if (agentId !== null)
    throw new Failure("failed_precondition", "a task of an agent cannot be moved to another project");
  if (parentId !== null)
    throw new Failure("failed_precondition", "a subtask cannot be moved to another project");
  if (!canAccessProjects(caller)) throw notFound("project", "project_id");
  if (id === null && caller.within !== undefined) throw needsProject();
  const before = projectId === null || projectId === id ? null : await tx.projects.byId(projectId);
  if (before) checkMayLose(caller, before, "project_id");
  if (id === null) return { projectId: null, type: "standard" };
  if (!(await tx.projects.lock(caller, id))) throw notFound("project", "project_id");
  return { projectId: id, type: "project" };
}

/** A task without a project would be out of the reach of the key that made it (spec/api.md 8.108). */
const needsProject = (): Failure =>
  invalidArgument("project_id", "must be one of the projects that this API key is limited to");

/**
 * Checks references of a caller that sees only a part of the account's tasks. For other callers, access is
 * checked when the agent reads them (spec/api.md 9.8).
 */
async function checkReferences(tx: Tx, caller: Caller, { references }: UserInput): Promise<void> {
  if ((caller.clientId === undefined && caller.within === undefined) || references.length === 0) return;
  const ids = [...new Set(references)];
  if ((await tx.tasks.countVisible(caller, ids)) < ids.length)
    throw notFound("task", "message.task_references");
}

/** The title from the text, or else from the first file's name. */
const titleFrom = (text: string, { attachments = [] }: UserInput): string =>
  deriveTitle(text) || deriveTitle(attachments[0]?.filename ?? "");

/** `team` requires a team: in a personal space it has the effect of `private` (spec/api.md 14.2). */
const effectiveVisibility = (requested: Visibility, caller: Caller): Visibility =>
  requested === "team" && caller.role === null ? "private" : requested;

/** The row of a task before its first event. */
const newTask = (
  id: string,
  caller: Caller,
  request: TaskInput & { agentProfile: string; title: string },
  now: number,
): Task => ({
  ...idleTask(id, caller, now),
  clientId: appOf(caller),
  apiKeyId: keyOf(caller),
  projectId: request.projectId ?? null,
  scheduleId: request.scheduleId ?? null,
  type: request.projectId === undefined ? "standard" : "project",
  title: request.title,
  status: "running",
  shareVisibility: effectiveVisibility(request.shareVisibility, caller),
  hidden: request.hidden,
  agentProfile: request.agentProfile,
  locale: canonicalLocale(request.locale, caller.locale),
  interactive: request.interactive,
  references: addReferences([], request.input.references, id),
  metadata: mergeMetadata({}, request.metadata ?? {}),
  permissions: request.permissions ?? [],
});
