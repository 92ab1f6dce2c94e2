import type { Clock } from "../core/clock.ts";
import type { Packed } from "../core/exports/archive-rows.ts";
import type { DataExport } from "../core/exports/export.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { asOf } from "../core/files/file.ts";
import type { Tx } from "../core/store.ts";
import { entryName } from "./entry-name.ts";
import { inBytes, jsonArray, merged, one, plainRows } from "./json.ts";
import { bytesOf } from "./kept-bytes.ts";
import type { OnStep, Packing } from "./packing.ts";
import { filesOf, type SessionFile, sessionRow, tasksOf } from "./sessions.ts";
import { skillEntries, skillRows } from "./skills.ts";
import { identityRow, relationRow, teamRow, userRow, type Writers } from "./written.ts";
import type { Entry } from "./zip.ts";

/** What archives of a person's data are made of. */
export interface ArchiveParts {
  readonly store: Pick<Tx, "archives" | "projects">;
  readonly blobs: Pick<Blobs, "read">;
  readonly clock: Pick<Clock, "now">;
  readonly writers: Writers;
}

/** What a scope packs beside `user.json`, which says whose it is (contract/enterprise.md 6.2, 6.6). */
const parts = {
  full: ["person", "skills", "projects", "sessions"],
  tasks: ["sessions"],
  tasks_with_attachments: ["sessions"],
  custom_session_ids: ["sessions"],
  webdev_project: [],
  project: ["projects"],
} as const satisfies Record<DataExport["scope"], readonly string[]>;

/** Entries for which nothing is kept here yet. */
const unfilled = ["user_client_config", "user_personalization", "user_knowledge", "notifications"];

const packs = ({ scope }: DataExport, part: "person" | "skills" | "projects" | "sessions"): boolean =>
  (parts[scope] as readonly string[]).includes(part);

/** Whether the bytes of files are packed. */
const packsFiles = ({ scope, filter }: DataExport): boolean => filter.includeFiles || scope === "tasks_with_attachments";

/** Chosen tasks are of whatever time; otherwise nothing that came after the export was asked for is packed, so that it ends. */
function packedOf({ spaceId, accountId, scope, createdAt, filter }: DataExport): Packed {
  const theirs = { spaceId, accountId, includeDeleted: filter.includeDeleted };
  if (scope === "custom_session_ids") return { ...theirs, startTime: null, endTime: null, ids: filter.sessionIds };
  return { ...theirs, startTime: filter.startTime, endTime: Math.min(filter.endTime ?? createdAt, createdAt), ids: null };
}

/** A task is one step, its files another, and the rest one. */
async function countSteps(store: Pick<Tx, "archives">, wanted: DataExport): Promise<number> {
  if (!packs(wanted, "sessions")) return 1;
  return 1 + (await store.archives.count(packedOf(wanted))) * (packsFiles(wanted) ? 2 : 1);
}

/** Packs one person's data. Memory holds a page of rows, and a piece of a file, however large it is. */
export const packData = (parts: ArchiveParts, wanted: DataExport): Packing => ({
  steps: () => countSteps(parts.store, wanted),
  entries: (onStep) => entries(parts, wanted, onStep),
  eventCount: () => null,
});

async function* entries(parts: ArchiveParts, wanted: DataExport, onStep: OnStep): AsyncGenerator<Entry> {
  const members = await parts.store.archives.memberships(wanted.spaceId, wanted.accountId);
  const latest = members.slice(-1);
  yield json("user", plainRows(latest.map(userRow)));
  if (packs(wanted, "person")) {
    yield json("platform_user", plainRows(latest.flatMap(identityRow)));
    yield json("team", plainRows(latest.map(teamRow)));
    yield json("team_user_relation", plainRows(members.map(relationRow)));
    for (const name of unfilled) yield json(name, plainRows([]));
  }
  if (packs(wanted, "skills")) {
    yield json("skill", skillRows(parts.store.archives, packedOf(wanted), parts.writers));
    yield* skillEntries(parts.store.archives, packedOf(wanted), parts.blobs);
  }
  if (packs(wanted, "projects")) yield json("project", projectRows(parts, wanted));
  await onStep();
  if (packs(wanted, "sessions")) yield* sessionEntries(parts, wanted, onStep);
}

async function* sessionEntries(parts: ArchiveParts, wanted: DataExport, onStep: OnStep): AsyncGenerator<Entry> {
  const { store, writers } = parts;
  const packed = packedOf(wanted);
  const tasks = () => tasksOf(store.archives, packed);
  const withFiles = packsFiles(wanted);
  async function* sessionRows() {
    for await (const page of tasks()) {
      for (const task of page) {
        yield sessionRow(store.archives, task, writers, withFiles);
        await onStep();
      }
    }
  }
  async function* fileRows() {
    for await (const page of tasks()) for await (const file of filesOf(store.archives, page)) yield one(fileRow(file, parts));
  }
  yield json("session_info", sessionRows());
  yield json("session_file_info", fileRows());
  if (!withFiles) return;
  for await (const page of tasks()) {
    for await (const file of filesOf(store.archives, page)) {
      const entry = await attachmentEntry(file, parts);
      if (entry) yield entry;
    }
    for (const _ of page) await onStep();
  }
}

async function* projectRows({ store, writers }: ArchiveParts, { spaceId, accountId, createdAt, scope, filter }: DataExport) {
  const { startTime, endTime, projectUids } = filter;
  const [from, to] = [startTime ?? 0, Math.min(endTime ?? createdAt, createdAt)];
  const isWanted = (id: string) => scope !== "project" || projectUids.length === 0 || projectUids.includes(id);
  const projects = await store.projects.list({ spaceId, accountId });
  for (const project of projects.toReversed()) {
    if (isWanted(project.id) && project.createdAt >= from && project.createdAt <= to) yield one(writers.project(project));
  }
}

/** A file that is forgotten is told of as its task remembers it. */
function fileRow({ taskId, attachment, kept }: SessionFile, { clock, writers }: ArchiveParts): string {
  const { fileId: id, filename, contentType: content_type, bytes } = attachment;
  const row = kept ? writers.file(asOf(kept, clock.now())) : JSON.stringify({ id, filename, status: "deleted", content_type, bytes });
  const more = { session_uid: taskId, ...(kept?.sha256 ? { sha256: kept.sha256 } : {}) };
  return merged(row, more);
}

/** Null for a file whose bytes are gone. */
async function attachmentEntry({ taskId, attachment, kept }: SessionFile, { blobs, clock }: ArchiveParts): Promise<Entry | null> {
  const file = kept && asOf(kept, clock.now());
  if (file?.status !== "uploaded" || file.blobId === null) return null;
  const bytes = await bytesOf(blobs, file.blobId);
  return bytes && { name: entryName(taskId, attachment), bytes, size: file.bytes, compress: false };
}

const json = (name: string, rows: AsyncIterable<AsyncIterable<string>>): Entry => ({
  name: `${name}.json`,
  bytes: inBytes(jsonArray(rows)),
  size: null,
  compress: true,
});
