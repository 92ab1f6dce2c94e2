import { Readable } from "node:stream";
import type { Clock } from "../../core/clock.ts";
import type {
  ArchiveQuery,
  ArchiveRows,
  PackedMember,
  PackedSkill,
} from "../../core/exports/archive-rows.ts";
import type { DataExport } from "../../core/exports/export.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { fileAt } from "../../core/files/file.ts";
import type { Tx } from "../../core/store.ts";
import { transcriptReader } from "../../core/tasks/transcript.ts";
import {
  identityRow,
  jsonArray,
  membershipRow,
  onePart,
  plainRows,
  skillRow,
  teamRow,
  toChunks,
  userRow,
  type Writers,
  withMembers,
} from "./json.ts";
import { filesOf, type SessionFile, sessionRow, sessionsOf, tasksOf, transcriptLines } from "./sessions.ts";
import {
  agentRows,
  configRow,
  connectorRows,
  grantRows,
  type SettingStore,
  scheduleRows,
  webhookRows,
} from "./settings.ts";
import { type SiteStore, siteEntries, siteRows } from "./websites.ts";
import { bytesOf, type Entry, entryName, type OnStep, type Packing, skillEntryName } from "./zip.ts";

/** The number of skills per page. */
const skillsMax = 100;

async function* skillsOf(
  rows: Pick<ArchiveRows, "skills">,
  selection: ArchiveQuery,
): AsyncGenerator<PackedSkill> {
  for (let after: PackedSkill | null = null; ; ) {
    const page: readonly PackedSkill[] = await rows.skills(selection, after, skillsMax);
    yield* page;
    if (page.length < skillsMax) return;
    after = page.at(-1) ?? null;
  }
}

async function* skillRows(
  rows: Pick<ArchiveRows, "skills">,
  selection: ArchiveQuery,
  writers: Pick<Writers, "skill">,
): AsyncGenerator<AsyncIterable<string>> {
  for await (const skill of skillsOf(rows, selection))
    yield onePart(withMembers(writers.skill(skill), skillRow(skill)));
}

/** The stored ZIP of each skill that is not deleted. It is streamed, and never complete in memory. */
async function* skillEntries(
  rows: Pick<ArchiveRows, "skills">,
  selection: ArchiveQuery,
  blobs: Pick<Blobs, "read">,
): AsyncGenerator<Entry> {
  for await (const skill of skillsOf(rows, { ...selection, includeDeleted: false })) {
    const bytes = await bytesOf(blobs, skill.blobId);
    if (bytes) yield { name: skillEntryName(skill), bytes, size: skill.bytes, compress: false };
  }
}

/** The inputs for archives of a person's data. */
export interface ArchiveParts {
  readonly store: Pick<Tx, "archives" | "projects" | "transcripts"> & SiteStore & SettingStore;
  readonly blobs: Pick<Blobs, "read">;
  readonly clock: Pick<Clock, "now">;
  readonly writers: Writers;
}

/**
 * The parts of each scope, in addition to `user.json`, which names the person (spec/enterprise.md 6.2, 6.6).
 */
const parts = {
  full: ["person", "skills", "projects", "websites", "sessions"],
  tasks: ["sessions"],
  tasks_with_attachments: ["sessions"],
  custom_session_ids: ["sessions"],
  webdev_project: ["websites"],
  project: ["projects"],
} as const satisfies Record<DataExport["scope"], readonly string[]>;

/** Entries that are empty, because the platform does not store such data. */
const emptyEntries = ["user_knowledge"];

const packs = ({ scope }: DataExport, part: (typeof parts)["full"][number]): boolean =>
  (parts[scope] as readonly string[]).includes(part);

/** Whether the archive contains the bytes of files. */
const packsFiles = ({ scope, filter }: DataExport): boolean =>
  filter.includeFiles || scope === "tasks_with_attachments";

/**
 * Tasks chosen by id have no time limits. Otherwise the archive contains only data from before the request,
 * so that the export ends.
 */
function selectionOf({ spaceId, accountId, scope, createdAt, filter }: DataExport): ArchiveQuery {
  const theirs = { spaceId, accountId, includeDeleted: filter.includeDeleted };
  if (scope === "custom_session_ids")
    return { ...theirs, startTime: null, endTime: null, ids: filter.sessionIds };
  return {
    ...theirs,
    startTime: filter.startTime,
    endTime: Math.min(filter.endTime ?? createdAt, createdAt),
    ids: null,
  };
}

/** The websites of an archive: those of `webdev_project_uids`, or all. */
const siteSelectionOf = (requested: DataExport): ArchiveQuery => {
  const { webdevProjectUids } = requested.filter;
  return { ...selectionOf(requested), ids: webdevProjectUids.length === 0 ? null : webdevProjectUids };
};

/** Each website is one step, each task is one step, its files are another step, and the rest is one step. */
async function countSteps({ archives }: Pick<Tx, "archives">, requested: DataExport): Promise<number> {
  const sites = packs(requested, "websites") ? await archives.countWebsites(siteSelectionOf(requested)) : 0;
  const tasks = packs(requested, "sessions") ? await archives.count(selectionOf(requested)) : 0;
  return 1 + sites + tasks * (packsFiles(requested) ? 2 : 1);
}

/** Packs one person's data. Memory holds a page of rows and a part of a file, for any size. */
export const packData = (parts: ArchiveParts, requested: DataExport): Packing => ({
  steps: () => countSteps(parts.store, requested),
  entries: (onStep) => entries(parts, requested, onStep),
  eventCount: () => null,
});

async function* entries(parts: ArchiveParts, requested: DataExport, onStep: OnStep): AsyncGenerator<Entry> {
  const members = await parts.store.archives.memberships(requested.spaceId, requested.accountId);
  const latest = members.slice(-1);
  yield json("user", plainRows(latest.map(userRow)));
  if (packs(requested, "person")) {
    yield json("platform_user", plainRows(latest.flatMap(identityRow)));
    yield json("team", plainRows(latest.map(teamRow)));
    yield json("team_user_relation", plainRows(members.map(membershipRow)));
    yield* settingEntries(parts, requested, latest);
    for (const name of emptyEntries) yield json(name, plainRows([]));
    yield json("schedule", scheduleRows(parts.store, requested, parts.writers));
  }
  if (packs(requested, "skills")) {
    yield json("skill", skillRows(parts.store.archives, selectionOf(requested), parts.writers));
    yield* skillEntries(parts.store.archives, selectionOf(requested), parts.blobs);
  }
  if (packs(requested, "projects")) yield json("project", projectRows(parts, requested));
  await onStep();
  if (packs(requested, "websites")) {
    yield json("website", siteRows(parts.store, siteSelectionOf(requested), parts.writers));
    yield* siteEntries(parts.store, siteSelectionOf(requested), parts.blobs, onStep);
  }
  if (packs(requested, "sessions")) yield* sessionEntries(parts, requested, onStep);
}

async function* settingEntries(
  { store, writers }: ArchiveParts,
  requested: DataExport,
  latest: readonly PackedMember[],
) {
  yield json("user_client_config", plainRows(latest.flatMap(configRow)));
  yield json("user_personalization", agentRows(store, requested, writers));
  yield json("connector", connectorRows(store, requested, writers));
  yield json("oauth_grant", grantRows(store, requested, writers));
  yield json("notifications", webhookRows(store, requested, selectionOf(requested), writers));
}

async function* sessionEntries(
  parts: ArchiveParts,
  requested: DataExport,
  onStep: OnStep,
): AsyncGenerator<Entry> {
  const { store, writers } = parts;
  const selection = selectionOf(requested);
  const tasks = () => tasksOf(store.archives, selection);
  const withFiles = packsFiles(requested);
  async function* sessionRows() {
    for await (const page of tasks()) {
      for await (const session of sessionsOf(store.archives, page)) {
        yield sessionRow(session, writers, withFiles);
        await onStep();
      }
    }
  }
  async function* fileRows() {
    for await (const page of tasks())
      for await (const file of filesOf(store.archives, page)) yield onePart(fileRow(file, parts));
  }
  yield json("session_info", sessionRows());
  yield json("session_file_info", fileRows());
  // A row whose parts were deleted after it was read belongs to a task that is deleted.
  const read = async (id: string) => (await bytesOf(parts.blobs, id)) ?? Readable.from(["[]"]);
  async function* lines() {
    for await (const page of tasks())
      for (const task of page) yield* transcriptLines(transcriptReader(store.transcripts, { read }), task);
  }
  yield { name: "transcript.jsonl", bytes: toChunks(lines()), size: null, compress: true };
  if (!withFiles) return;
  for await (const page of tasks()) {
    for await (const file of filesOf(store.archives, page)) {
      const entry = await attachmentEntry(file, parts);
      if (entry) yield entry;
    }
    for (const _ of page) await onStep();
  }
}

async function* projectRows(
  { store, writers }: ArchiveParts,
  { spaceId, accountId, createdAt, scope, filter }: DataExport,
) {
  const { startTime, endTime, projectUids } = filter;
  const [from, to] = [startTime ?? 0, Math.min(endTime ?? createdAt, createdAt)];
  const isIncluded = (id: string) =>
    scope !== "project" || projectUids.length === 0 || projectUids.includes(id);
  const projects = await store.projects.list({ spaceId, accountId });
  for (const project of projects.toReversed()) {
    if (isIncluded(project.id) && project.createdAt >= from && project.createdAt <= to)
      yield onePart(writers.project(project));
  }
}

/** The row of a file. For a file that no longer exists, it contains the data in the task's event. */
function fileRow({ taskId, attachment, kept }: SessionFile, { clock, writers }: ArchiveParts): string {
  const { fileId, filename, contentType: content_type, bytes } = attachment;
  const row = kept
    ? writers.file(fileAt(kept, clock.now()))
    : JSON.stringify({ id: fileId, filename, status: "deleted", content_type, bytes });
  const more = { session_uid: taskId, ...(kept?.sha256 ? { sha256: kept.sha256 } : {}) };
  return withMembers(row, more);
}

/** Null for a file whose bytes no longer exist. */
async function attachmentEntry(
  { taskId, attachment, kept }: SessionFile,
  { blobs, clock }: ArchiveParts,
): Promise<Entry | null> {
  const file = kept && fileAt(kept, clock.now());
  if (file?.status !== "uploaded" || file.blobId === null) return null;
  const bytes = await bytesOf(blobs, file.blobId);
  return bytes && { name: entryName(taskId, attachment), bytes, size: file.bytes, compress: false };
}

const json = (name: string, rows: AsyncIterable<AsyncIterable<string>>): Entry => ({
  name: `${name}.json`,
  bytes: toChunks(jsonArray(rows)),
  size: null,
  compress: true,
});
