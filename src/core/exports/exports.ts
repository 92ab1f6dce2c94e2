import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, invalid, type Reason } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import { downloadOf, exportIn, linkTo } from "./download.ts";
import type { DataExport, ExportFilter, NewDataExport } from "./export.ts";
import type { ExportLink, ExportLinks } from "./links.ts";
import type { Paged, PageOf } from "./paged.ts";
import type { Subject, SubjectRef } from "./subject.ts";
import type { TaskRecord, TaskRecordFilter } from "./task-record.ts";

/** What is asked for; empty texts are none. */
export interface WantedExport extends Pick<NewDataExport, "scope" | "filter" | "reason"> {
  readonly userId: string;
  readonly email: string;
}

/** An export that was asked for, and the enterprise it is of. */
export interface AskedExport {
  readonly wanted: NewDataExport;
  readonly teamId: string;
}

/**
 * Exports of the data of whoever is or was a member of the caller's team (contract/enterprise.md 6, 7). Persons,
 * projects and exports of other teams are `absent` in the words of unknown ones (contract/decisions.md 9).
 */
export interface Exports {
  /** A person's tasks, newest first, and how many there are. @param user an account id or an address. */
  tasks(tx: Tx, caller: Caller, user: string, filter: TaskRecordFilter, page: PageOf): Promise<Paged<TaskRecord>>;
  /** @throws Failure `invalid` without a person, or for ids that do not go with the scope; `absent` for a person or project. */
  create(tx: Tx, caller: Caller, wanted: WantedExport): Promise<AskedExport>;
  get(tx: Tx, caller: Caller, id: string): Promise<DataExport>;
  /** A person's exports, newest first. @param user an account id or an address. */
  list(tx: Tx, caller: Caller, user: string, page: PageOf): Promise<Paged<DataExport>>;
  /**
   * A fresh address of the archive.
   *
   * @param purged what an archive that is no longer kept is refused as: the two versions differ (contract/enterprise.md 7.6).
   * @throws Failure `precondition` until it is completed.
   */
  download(tx: Tx, caller: Caller, id: string, purged: Extract<Reason, "absent" | "precondition">): Promise<ExportLink>;
  /** The address that stands in an export's record; null unless there is an archive. */
  link(of: DataExport): ExportLink | null;
}

/** What exports need of their surroundings. */
export interface ExportParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly links: Pick<ExportLinks, "download">;
}

export function exports({ clock, ids, links }: ExportParts): Exports {
  return {
    async tasks(tx, { spaceId }, user, filter, page) {
      checkOrder(filter);
      const { accountId } = await personIn(tx, spaceId, "user", { either: user });
      return tx.exports.tasks({ spaceId, accountId }, filter, page);
    },
    async create(tx, { accountId: requestedBy, spaceId }, { userId, email, scope, filter, reason }) {
      checkOrder(filter);
      checkIds(scope, filter);
      const { accountId, teamId } = await subjectOf(tx, spaceId, userId, email);
      await checkProjects(tx, { accountId, spaceId }, filter);
      const now = clock.now();
      const asked = { id: ids.short(), spaceId, requestedBy, reason, createdAt: now };
      const wanted: NewDataExport = { kind: "data", ...asked, accountId, scope, filter };
      await tx.exports.insert(wanted);
      await tx.jobs.put({ kind: "export", key: wanted.id, runAt: now });
      tx.audit.note({ subject: wanted.id, after: { user_id: accountId, scope, reason, ...filter } });
      return { wanted, teamId };
    },
    get: (tx, { spaceId }, id) => exportIn(tx, "data", spaceId, id),
    async list(tx, { spaceId }, user, page) {
      const { accountId } = await personIn(tx, spaceId, "user", { either: user });
      return tx.exports.list(spaceId, accountId, page);
    },
    async download(tx, { spaceId }, id, purged) {
      return downloadOf(await exportIn(tx, "data", spaceId, id), links, clock.now(), purged);
    },
    link: (of) => linkTo(of, links, clock.now()),
  };
}

/** @throws Failure `absent` at `path` for who was never in the space's team. */
export async function personIn({ exports: rows }: Pick<Tx, "exports">, spaceId: string, path: string, ref: SubjectRef): Promise<Subject> {
  const subject = await rows.subject(spaceId, ref);
  if (subject === null) throw absent("user", path);
  return subject;
}

/** By id and address, which must then be one person's: an export of somebody else is worse than none. */
async function subjectOf(tx: Tx, spaceId: string, userId: string, email: string): Promise<Subject> {
  if (userId === "" && email === "") throw invalid("user_id", "this or email is required");
  const byId = userId === "" ? null : await personIn(tx, spaceId, "user_id", { accountId: userId });
  const byEmail = email === "" ? null : await personIn(tx, spaceId, "email", { email });
  if (byId && byEmail && byId.accountId !== byEmail.accountId) throw invalid("email", "must be of the person that user_id names");
  const subject = byId ?? byEmail;
  if (subject === null) throw absent("user", "user_id");
  return subject;
}

/** @throws Failure `invalid` for a window that ends before it begins. */
export function checkOrder({ startTime, endTime }: Pick<ExportFilter, "startTime" | "endTime">): void {
  if (startTime !== null && endTime !== null && startTime > endTime) throw invalid("start_time", "must not be after end_time");
}

/** Ids narrow one scope alone: with another they would be passed over, and more exported than was meant. */
function checkIds(scope: NewDataExport["scope"], { sessionIds, webdevProjectUids, projectUids }: ExportFilter): void {
  if (scope === "custom_session_ids" && sessionIds.length === 0) throw invalid("session_ids", "is required with this scope");
  const narrowing = [
    ["session_ids", "custom_session_ids", sessionIds],
    ["webdev_project_uids", "webdev_project", webdevProjectUids],
    ["project_uids", "project", projectUids],
  ] as const;
  for (const [path, own, uids] of narrowing)
    if (scope !== own && uids.length > 0) throw invalid(path, `goes with the scope ENTERPRISE_EXPORT_SCOPE_${own.toUpperCase()} only`);
}

/** A space has no more projects than a list holds. There are no websites yet, so that every one of those is unknown. */
async function checkProjects(tx: Tx, scope: { accountId: string; spaceId: string }, filter: ExportFilter): Promise<void> {
  if (filter.webdevProjectUids.length > 0) throw absent("website", "webdev_project_uids");
  if (filter.projectUids.length === 0) return;
  const known = new Set((await tx.projects.list(scope)).map(({ id }) => id));
  if (filter.projectUids.some((uid) => !known.has(uid))) throw absent("project", "project_uids");
}
