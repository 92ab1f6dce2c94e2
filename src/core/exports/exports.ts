import type { Caller } from "../accounts/caller.ts";
import { auditCommand } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound, type Reason } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { CreationContext } from "../keys/api-key.ts";
import type { CountedPage, OffsetPage } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { cancelRequested, deleteEnded } from "./end.ts";
import type {
  ComplianceExport,
  DataExport,
  Export,
  ExportFilter,
  ExportKind,
  NewComplianceExport,
  NewDataExport,
  Subject,
  SubjectRef,
} from "./export.ts";
import {
  createDownloadLink,
  type ExportLink,
  type ExportLinks,
  linkIfAvailable,
  requireExport,
} from "./links.ts";
import type { TaskRecord, TaskRecordFilter } from "./task-record.ts";

/** The service of an operator's cancel in the audit log. */
const services: Readonly<Record<ExportKind, string>> = {
  data: "dataexport.v1.EnterpriseDataExportService",
  compliance: "observability.v2.EnterpriseComplianceV2Service",
};

/** The maximum number of exports in a list. */
const shownMax = 1_000;

/** The exports that have not ended, oldest first; at most 1,000. */
export async function listOpenExports({ exports }: Pick<Tx, "exports">): Promise<readonly Export[]> {
  // With or without a claim: in the far future every lease has expired.
  const ids = await exports.unclaimed(Number.MAX_SAFE_INTEGER, shownMax);
  const records = await Promise.all(ids.map((id) => exports.byId(id)));
  return records.filter((record) => record !== null);
}

/**
 * Cancels an export for an operator (spec/enterprise.md 13, row 32). The process that works on it stops
 * within seconds.
 *
 * @throws Failure `not_found`, `failed_precondition` for an export that has ended.
 */
export async function cancelExport(tx: Tx, context: CreationContext, id: string): Promise<void> {
  const record = await tx.exports.byId(id);
  if (!record) throw notFound("export");
  if (!(await tx.exports.cancel(id, context.now)))
    throw new Failure("failed_precondition", `the export has ended: it is ${record.status}`);
  tx.audit.note({ subject: id, before: { status: record.status }, after: { status: "cancelled" } });
  const { spaceId, requestedBy } = record;
  await auditCommand(
    tx,
    context,
    { spaceId, accountId: requestedBy },
    `${services[record.kind]}/CancelExport`,
  );
}

/** The input of an export; empty texts are absent. */
export interface ExportInput extends Pick<NewDataExport, "scope" | "filter" | "reason"> {
  readonly userId: string;
  readonly email: string;
}

export interface RequestedExport {
  readonly newExport: NewDataExport;
  readonly teamId: string;
}

/**
 * Exports of the data of present and past members of the caller's team (spec/enterprise.md 6, 7). Persons,
 * projects and exports of other teams are `not_found`, with the same text as unknown ones (spec/decisions.md
 * 9).
 */
export interface Exports {
  /** A person's tasks, newest first, and their number. @param user an account id or an email address. */
  tasks(
    tx: Tx,
    caller: Caller,
    user: string,
    filter: TaskRecordFilter,
    page: OffsetPage,
  ): Promise<CountedPage<TaskRecord>>;
  /**
   * @throws Failure `invalid_argument` without a person, or for ids that do not go with the scope;
   * `not_found` for a person, project or website.
   */
  create(tx: Tx, caller: Caller, input: ExportInput): Promise<RequestedExport>;
  get(tx: Tx, caller: Caller, id: string): Promise<DataExport>;
  /** A person's exports, newest first. @param user an account id or an email address. */
  list(tx: Tx, caller: Caller, user: string, page: OffsetPage): Promise<CountedPage<DataExport>>;
  /**
   * Creates an address of the archive.
   *
   * @param purged the reason of the failure for a purged archive: the two versions differ (spec/enterprise.md
   * 7.6).
   * @throws Failure `failed_precondition` until it is completed.
   */
  download(
    tx: Tx,
    caller: Caller,
    id: string,
    purged: Extract<Reason, "not_found" | "failed_precondition">,
  ): Promise<ExportLink>;
  /**
   * Cancels an export; a cancelled one stays as it is. @throws Failure `failed_precondition` when it is
   * completed or failed.
   */
  cancel(tx: Tx, caller: Caller, id: string): Promise<DataExport>;
  /** @throws Failure `failed_precondition` until it has ended. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** Null without an archive. */
  link(of: DataExport): ExportLink | null;
}

export interface ExportParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly links: Pick<ExportLinks, "download">;
}

export function exports({ clock, ids, links }: ExportParts): Exports {
  return {
    async tasks(tx, { spaceId }, user, filter, page) {
      checkOrder(filter);
      const { accountId } = await requirePerson(tx, spaceId, "user", { either: user });
      return tx.exports.tasks({ spaceId, accountId }, filter, page);
    },
    async create(tx, { accountId: requestedBy, spaceId }, { userId, email, scope, filter, reason }) {
      checkOrder(filter);
      checkIds(scope, filter);
      const { accountId, teamId } = await requireSubject(tx, spaceId, userId, email);
      await checkProjects(tx, { accountId, spaceId }, filter);
      await checkWebsites(tx, { accountId, spaceId }, filter);
      const now = clock.now();
      const request = { id: ids.short(), spaceId, requestedBy, reason, createdAt: now };
      const newExport: NewDataExport = { kind: "data", ...request, accountId, scope, filter };
      await tx.exports.insert(newExport);
      await tx.jobs.put({ kind: "export", key: newExport.id, runAt: now, isNew: true });
      tx.audit.note({ subject: newExport.id, after: { user_id: accountId, scope, reason, ...filter } });
      return { newExport, teamId };
    },
    get: (tx, { spaceId }, id) => requireExport(tx, "data", spaceId, id),
    async list(tx, { spaceId }, user, page) {
      const { accountId } = await requirePerson(tx, spaceId, "user", { either: user });
      return tx.exports.list(spaceId, accountId, page);
    },
    async download(tx, { spaceId }, id, purged) {
      return createDownloadLink(await requireExport(tx, "data", spaceId, id), links, clock.now(), purged);
    },
    cancel: (tx, { spaceId }, id) => cancelRequested(tx, { kind: "data", spaceId, id }, clock.now()),
    remove: (tx, { spaceId }, id) => deleteEnded(tx, { kind: "data", spaceId, id }),
    link: (of) => linkIfAvailable(of, links, clock.now()),
  };
}

/** @throws Failure `not_found` at `path` for a person who was never in the space's team. */
async function requirePerson(
  { exports: rows }: Pick<Tx, "exports">,
  spaceId: string,
  path: string,
  ref: SubjectRef,
): Promise<Subject> {
  const subject = await rows.subject(spaceId, ref);
  if (subject === null) throw notFound("user", path);
  return subject;
}

/**
 * Finds a person by id, address or both. Both must be of the same person: an export of another person's data
 * is worse than none.
 */
async function requireSubject(tx: Tx, spaceId: string, userId: string, email: string): Promise<Subject> {
  if (userId === "" && email === "") throw invalidArgument("user_id", "this or email is required");
  const byId = userId === "" ? null : await requirePerson(tx, spaceId, "user_id", { accountId: userId });
  const byEmail = email === "" ? null : await requirePerson(tx, spaceId, "email", { email });
  if (byId && byEmail && byId.accountId !== byEmail.accountId)
    throw invalidArgument("email", "must be of the person that user_id names");
  const subject = byId ?? byEmail;
  if (subject === null) throw notFound("user", "user_id");
  return subject;
}

/** @throws Failure `invalid_argument` for a window that ends before it begins. */
function checkOrder({ startTime, endTime }: Pick<ExportFilter, "startTime" | "endTime">): void {
  if (startTime !== null && endTime !== null && startTime > endTime)
    throw invalidArgument("start_time", "must not be after end_time");
}

/**
 * A list of ids belongs to one scope. With another scope it would be ignored, and more data exported than
 * intended.
 */
function checkIds(
  scope: NewDataExport["scope"],
  { sessionIds, webdevProjectUids, projectUids }: ExportFilter,
): void {
  if (scope === "custom_session_ids" && sessionIds.length === 0)
    throw invalidArgument("session_ids", "is required with this scope");
  const narrowing = [
    ["session_ids", "custom_session_ids", sessionIds],
    ["webdev_project_uids", "webdev_project", webdevProjectUids],
    ["project_uids", "project", projectUids],
  ] as const;
  for (const [path, ownScope, uids] of narrowing)
    if (scope !== ownScope && uids.length > 0)
      throw invalidArgument(
        path,
        `is only allowed with the scope ENTERPRISE_EXPORT_SCOPE_${ownScope.toUpperCase()}`,
      );
}

/** One list has all projects of a space. */
async function checkProjects(
  tx: Tx,
  scope: { accountId: string; spaceId: string },
  filter: ExportFilter,
): Promise<void> {
  if (filter.projectUids.length === 0) return;
  const known = new Set((await tx.projects.list(scope)).map(({ id }) => id));
  if (filter.projectUids.some((uid) => !known.has(uid))) throw notFound("project", "project_uids");
}

/** Websites of other persons are unknown. So are deleted ones, unless they are requested too. */
async function checkWebsites(
  tx: Tx,
  scope: { accountId: string; spaceId: string },
  filter: ExportFilter,
): Promise<void> {
  const { webdevProjectUids, includeDeleted } = filter;
  if (webdevProjectUids.length === 0) return;
  const found = await tx.archives.countWebsites({
    ...scope,
    includeDeleted,
    startTime: null,
    endTime: null,
    ids: webdevProjectUids,
  });
  if (found < webdevProjectUids.length) throw notFound("website", "webdev_project_uids");
}

export type ComplianceInput = Pick<NewComplianceExport, "filter" | "reason">;

/**
 * Exports of the steps of agents in the caller's team (spec/enterprise.md 8). Persons, tasks and exports of
 * other teams are `not_found`, with the same text as unknown ones (spec/decisions.md 9).
 */
export interface ComplianceExports {
  /**
   * An export contains payloads only if the operator allows it; otherwise a request for them has no effect.
   *
   * @throws Failure `failed_precondition` while the team has another export that has not ended;
   * `invalid_argument` for a window that ends before it begins; `not_found` for a person or task.
   */
  create(tx: Tx, caller: Caller, input: ComplianceInput): Promise<NewComplianceExport>;
  get(tx: Tx, caller: Caller, id: string): Promise<ComplianceExport>;
  /** All of the team's, newest first. */
  list(tx: Tx, caller: Caller, page: OffsetPage): Promise<CountedPage<ComplianceExport>>;
  /**
   * Creates an address of the archive. @throws Failure `failed_precondition` until it is completed,
   * `not_found` once it is purged.
   */
  download(tx: Tx, caller: Caller, id: string): Promise<ExportLink>;
  /**
   * Cancels an export; a cancelled one stays as it is. @throws Failure `failed_precondition` when it is
   * completed or failed.
   */
  cancel(tx: Tx, caller: Caller, id: string): Promise<ComplianceExport>;
  /** @throws Failure `failed_precondition` until it has ended. */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export interface ComplianceParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly links: Pick<ExportLinks, "download">;
  /** The operator allows contents to go to a SIEM (spec/enterprise.md 8.1, tier 2). */
  readonly payloads: boolean;
}

export const complianceExports = ({ clock, ids, links, payloads }: ComplianceParts): ComplianceExports => ({
  async create(tx, { accountId, spaceId }, { filter: requested, reason }) {
    checkOrder(requested);
    if (requested.user !== null) await requirePerson(tx, spaceId, "user", { accountId: requested.user });
    if (requested.session !== null && !(await tx.steps.has(spaceId, requested.session)))
      throw notFound("task", "session_uid");
    const filter = { ...requested, includePayload: requested.includePayload && payloads };
    const now = clock.now();
    const newExport: NewComplianceExport = {
      kind: "compliance",
      id: ids.short(),
      spaceId,
      requestedBy: accountId,
      filter,
      reason,
      createdAt: now,
    };
    if (!(await tx.exports.insert(newExport)))
      throw new Failure("failed_precondition", "another export of the team's events has not ended yet");
    await tx.jobs.put({ kind: "export", key: newExport.id, runAt: now, isNew: true });
    tx.audit.note({ subject: newExport.id, after: { reason, ...filter } });
    return newExport;
  },
  get: (tx, { spaceId }, id) => requireExport(tx, "compliance", spaceId, id),
  list: (tx, { spaceId }, page) => tx.exports.listCompliance(spaceId, page),
  cancel: (tx, { spaceId }, id) => cancelRequested(tx, { kind: "compliance", spaceId, id }, clock.now()),
  remove: (tx, { spaceId }, id) => deleteEnded(tx, { kind: "compliance", spaceId, id }),
  async download(tx, { spaceId }, id) {
    return createDownloadLink(
      await requireExport(tx, "compliance", spaceId, id),
      links,
      clock.now(),
      "not_found",
    );
  },
});
