import type { ArchiveQuery, PackedWebsite } from "../../core/exports/archive-rows.ts";
import type { Blobs } from "../../core/files/blob.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Tx } from "../../core/store.ts";
import type { Checkpoint, CheckpointFile } from "../../core/websites/checkpoint.ts";
import { type Writers, withMembers } from "./json.ts";
import { createSiteEntries, type SiteEntries } from "./site-entries.ts";
import { bytesOf, type Entry, type OnStep } from "./zip.ts";

/** The number of websites per page. */
const sitesMax = 100;

export type SiteStore = Pick<Tx, "archives" | "checkpoints">;

async function* sitesOf(
  { archives }: Pick<Tx, "archives">,
  selection: ArchiveQuery,
): AsyncGenerator<PackedWebsite> {
  for (let after: PackedWebsite | null = null; ; ) {
    const page: readonly PackedWebsite[] = await archives.websites(selection, after, sitesMax);
    yield* page;
    if (page.length < sitesMax) return;
    after = page.at(-1) ?? null;
  }
}

/** The checkpoints of a website with their files, oldest first. */
async function* checkpointsOf(
  { archives, checkpoints }: SiteStore,
  { id }: PackedWebsite,
): AsyncGenerator<PackedCheckpoint> {
  for (const checkpoint of (await checkpoints.list(id)).toReversed())
    yield { checkpoint, files: await archives.siteFiles(checkpoint.id) };
}

interface PackedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly files: readonly CheckpointFile[];
}

/** The rows of `website.json`: each website with its checkpoints, and the entries of their files. */
export async function* siteRows(
  store: SiteStore,
  selection: ArchiveQuery,
  writers: Writers,
): AsyncGenerator<AsyncIterable<string>> {
  for await (const site of sitesOf(store, selection)) yield siteRow(store, site, writers);
}

async function* siteRow(store: SiteStore, site: PackedWebsite, writers: Writers): AsyncGenerator<string> {
  yield `${withMembers(writers.website(site), siteMembers(site)).slice(0, -1)},"checkpoints":[`;
  const entries = createSiteEntries(site.id);
  let comma = "";
  for await (const { checkpoint, files } of checkpointsOf(store, site)) {
    const rows = files.map((file) => fileRow(file, entries.place(checkpoint.id, file).name));
    yield comma + withMembers(writers.checkpoint(checkpoint), { hash: checkpoint.hash, files: rows });
    comma = ",";
  }
  yield "]}";
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** The members of a website that website.status does not show. Times are in Unix seconds, as there. */
const siteMembers = ({ taskId, createdAt, deletedAt }: PackedWebsite): JsonObject => ({
  session_uid: taskId,
  created_at: seconds(createdAt),
  is_deleted: deletedAt !== null,
  ...(deletedAt === null ? {} : { deleted_at: seconds(deletedAt) }),
});

const fileRow = ({ path, contentType, bytes, sha256 }: CheckpointFile, entry: string): JsonObject => ({
  path,
  content_type: contentType,
  bytes,
  sha256,
  entry,
});

/** The files of websites. Equal bytes of one website are packed once. Each website is a step. */
export async function* siteEntries(
  store: SiteStore,
  selection: ArchiveQuery,
  blobs: Pick<Blobs, "read">,
  onStep: OnStep,
): AsyncGenerator<Entry> {
  for await (const site of sitesOf(store, selection)) {
    const entries = createSiteEntries(site.id);
    for await (const packed of checkpointsOf(store, site)) yield* fileEntries(packed, entries, blobs);
    await onStep();
  }
}

async function* fileEntries(
  { checkpoint, files }: PackedCheckpoint,
  entries: SiteEntries,
  blobs: Pick<Blobs, "read">,
): AsyncGenerator<Entry> {
  for (const file of files) {
    const { name, isNew } = entries.place(checkpoint.id, file);
    const bytes = isNew ? await bytesOf(blobs, file.blobId) : null;
    if (bytes) yield { name, bytes, size: file.bytes, compress: true };
  }
}
