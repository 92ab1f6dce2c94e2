import type { Caller, Scope } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import { byCreation, type CursorPosition, decodeCursor, type Page, pageOf } from "../pagination/page.ts";
import { auditedRules, checkMayGrant } from "../permissions/grant.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import { hourMs, inBatches, purgingInBatches, type TimedJob } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";

/** The most projects in a space (spec/decisions.md 19b). */
export const projectsMax = 1000;

export const countedTasksMax = 1_000;

/** A named container. Its instruction applies to every task in it. */
export interface Project {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly name: string;
  /** May be empty. */
  readonly instruction: string;
  /** The rules for uses of tools in its tasks. */
  readonly permissions: readonly PermissionRule[];
  readonly createdAt: number;
}

export const newProject = (
  { accountId, spaceId }: Scope,
  { id, name, instruction }: Pick<Project, "id" | "name" | "instruction">,
  now: number,
): Project => ({ id, accountId, spaceId, name, instruction, permissions: [], createdAt: now });

/** The members that may be changed; absent ones stay as they are. */
export type ProjectEdit = Partial<Pick<Project, "name" | "instruction" | "permissions">>;

/**
 * A project with the number of its tasks, up to 1,000; null when the caller may not know it or has not
 * requested it.
 */
export interface CountedProject extends Project {
  readonly taskCount: number | null;
}

export interface ProjectPage {
  readonly limit: number;
  readonly after?: CursorPosition;
}

/** The request for a page. Without `limit`: all projects. */
export interface ProjectsInput {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly includeTaskCounts: boolean;
}

/** Projects. A tombstone is not found. */
export interface ProjectRows {
  insert(project: Project): Promise<void>;
  /** The caller's projects, newest first: all of them, or at most `limit` after a place in this order. */
  list(scope: Scope, page?: ProjectPage): Promise<readonly Project[]>;
  /** Up to 1,000. */
  countTasks(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  find(scope: Scope, id: string): Promise<Project | null>;
  /** As `find`, and keeps the project from being deleted until the transaction ends. */
  lock(scope: Scope, id: string): Promise<Project | null>;
  /** Whether the space has this project, of any account; if so, it is locked as by `lock`. */
  lockIn(spaceId: string, id: string): Promise<boolean>;
  /** A project of any account, for the operator. */
  byId(id: string): Promise<Project | null>;
  /** Of all accounts. */
  count(spaceId: string): Promise<number>;
  /** Null when the caller has none of this id. */
  update(scope: Scope, id: string, edit: ProjectEdit): Promise<Project | null>;
  /**
   * Makes the caller's project a tombstone, without its texts. Returns the project as it was; null when the
   * caller has none of this id.
   */
  tombstone(scope: Scope, id: string, now: number): Promise<Project | null>;
  /** A deleted project that tasks refer to; null when there is none. */
  findDeletedWithTasks(): Promise<string | null>;
  /**
   * Removes at most `max` tasks from a deleted project, as a change of these tasks at `now`; returns how many
   * it removed.
   */
  detachTasks(id: string, max: number, now: number): Promise<number>;
  /**
   * Deletes at most `max` tombstones that were made before the given time and have no tasks; returns how many
   * there were.
   */
  purge(before: number, max: number): Promise<number>;
}

export interface Projects {
  /** @throws Failure `resource_exhausted` when the space holds 1,000 (spec/decisions.md 19b). */
  create(tx: Tx, caller: Caller, input: Pick<Project, "name" | "instruction">): Promise<Project>;
  /**
   * The caller's, newest first. @throws Failure `invalid_argument` for a cursor of another list, and for a
   * cursor or counts without `limit`.
   */
  list(tx: Tx, caller: Caller, input: ProjectsInput): Promise<Page<CountedProject>>;
  /** @throws Failure `not_found`. */
  get(tx: Tx, caller: Caller, id: string): Promise<Project>;
  /** @throws Failure `not_found`, or `invalid_argument` for an empty edit. */
  update(tx: Tx, caller: Caller, id: string, edit: ProjectEdit): Promise<Project>;
}

export function projects(clock: Clock, ids: Ids): Projects {
  return {
    async create(tx, caller, { name, instruction }) {
      await tx.accounts.lockSpace(caller.spaceId);
      if ((await tx.projects.count(caller.spaceId)) >= projectsMax) {
        throw new Failure("resource_exhausted", `a space holds at most ${projectsMax} projects`);
      }
      const project = newProject(caller, { id: ids.short(), name, instruction }, clock.now());
      await tx.projects.insert(project);
      tx.audit.note({ subject: project.id, after: { name } });
      return project;
    },
    async list(tx, caller, { limit, cursor, includeTaskCounts }) {
      if (limit === undefined) {
        if (cursor || includeTaskCounts)
          throw invalidArgument(cursor ? "page_cursor" : "include_task_counts", "needs page_size");
        return { items: (await tx.projects.list(caller)).map(uncounted), next: undefined };
      }
      const binding = {
        accountId: caller.accountId,
        spaceId: caller.spaceId,
        operation: "project.list",
        filter: {},
      };
      const found = await tx.projects.list(caller, {
        limit: limit + 1,
        ...(cursor ? { after: decodeCursor(binding, cursor, "page_cursor") } : {}),
      });
      const { items, next } = pageOf(found, limit, binding, byCreation);
      return { items: includeTaskCounts ? await counted(tx, caller, items) : items.map(uncounted), next };
    },
    async get(tx, caller, id) {
      return requireProject(await tx.projects.find(caller, id));
    },
    async update(tx, caller, id, edit) {
      if (Object.keys(edit).length === 0)
        throw invalidArgument("", "name, instruction or permissions is required");
      // Rules are compared with those before: no other change of them may come between.
      if (edit.permissions) await tx.accounts.lockSpace(caller.spaceId);
      const before = requireProject(await tx.projects.find(caller, id));
      if (edit.permissions) checkMayGrant(caller, before.permissions, edit.permissions);
      const after = requireProject(await tx.projects.update(caller, id, edit));
      const instructed = edit.instruction !== undefined;
      tx.audit.note({
        subject: id,
        before: { name: before.name, ...(edit.permissions && auditedRules(before)) },
        after: { name: after.name, instructed, ...(edit.permissions && auditedRules(after)) },
      });
      return after;
    },
  };
}

const uncounted = (project: Project): CountedProject => ({ ...project, taskCount: null });

/** Adds the number of tasks, unless the caller is an app that sees only its own tasks. */
async function counted(
  tx: Tx,
  { clientId }: Caller,
  projects: readonly Project[],
): Promise<readonly CountedProject[]> {
  if (clientId !== undefined || projects.length === 0) return projects.map(uncounted);
  const counts = await tx.projects.countTasks(projects.map(({ id }) => id));
  return projects.map((project) => ({ ...project, taskCount: counts.get(project.id) ?? 0 }));
}

/** @throws Failure `not_found` for null. */
export function requireProject(project: Project | null): Project {
  if (!project) throw notFound("project");
  return project;
}

/** A change that created a task may commit after the one that deleted its project. */
export const purgeProjects = purgingInBatches("purge-projects", 100, (tx, now, max) =>
  tx.projects.purge(now - hourMs, max),
);

const detachMax = 500;

/** Removes the tasks from deleted projects, within a minute (spec/api.md 8.36). */
export const detachTasks: TimedJob = {
  name: "detach-tasks",
  every: 10_000,
  async run({ store, clock }, signal) {
    for (let id = await store.projects.findDeletedWithTasks(); id !== null && !signal.aborted; ) {
      const project = id;
      await inBatches(store, signal, detachMax, (tx) =>
        tx.projects.detachTasks(project, detachMax, clock.now()),
      );
      id = await store.projects.findDeletedWithTasks();
    }
  },
};
