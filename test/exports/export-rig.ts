import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { fromBuffer, type Entry as ZipEntry, type ZipFile } from "yauzl";
import type { Dispatcher } from "../../src/async/dispatcher.ts";
import type { Clock } from "../../src/core/clock.ts";
import type { Export, ExportFilter, ExportScope } from "../../src/core/exports/export.ts";
import { exportLinks } from "../../src/core/exports/links.ts";
import type { Blobs } from "../../src/core/files/blob.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Log } from "../../src/core/log.ts";
import type { Store } from "../../src/core/store.ts";
import { exportWriters } from "../../src/modules/export-writers.ts";
import { startExporter } from "../../src/runtime/exports/exporter.ts";
import { type FilePlatform, until } from "../files/files-rig.ts";
import { cipher } from "../support/cipher.ts";
import type { Person } from "../support/service.ts";

/** The part of a platform that makes archives, over a storage. */
export const createExporter = (
  store: Store,
  blobs: Blobs,
  clock: Clock,
  log: Log = () => undefined,
): Dispatcher =>
  startExporter({
    ...{
      store,
      blobs,
      clock,
      cipher,
      log,
      random: systemRandom,
      writers: exportWriters((label) => `https://${label}.sites.test`),
    },
    writer: writer({ changeBytes: store.change, blobs, clock, ids: systemIds, quota: 1 }),
  });

const wholeFilter: ExportFilter = {
  includeDeleted: false,
  includeFiles: false,
  startTime: null,
  endTime: null,
  sessionIds: [],
  webdevProjectUids: [],
  projectUids: [],
};

type Account = Pick<Person, "accountId" | "spaceId">;

/** Requests an export as the operation does, and returns its id. */
export async function requestExport(
  store: Store,
  of: Account,
  scope: ExportScope,
  filter: Partial<ExportFilter> = {},
  now = Date.now(),
): Promise<string> {
  const id = systemIds.short();
  await store.change(async (tx) => {
    const { accountId, spaceId } = of;
    await tx.exports.insert({
      kind: "data",
      ...{ id, accountId, spaceId, requestedBy: accountId, scope, reason: "case 31-07", createdAt: now },
      filter: { ...wholeFilter, ...filter },
    });
    await tx.jobs.put({ kind: "export", key: id, runAt: now });
  });
  return id;
}

/** The export after it has ended. */
export async function waitForExport(store: Store, id: string): Promise<Export> {
  let found: Export | null = null;
  await until(async () => {
    found = await store.exports.byId(id);
    return found?.completedAt !== null;
  });
  if (found === null) throw new Error("no such export");
  return found;
}

/** The download address of an archive. */
export const downloadUrl = (
  { service: { url } }: Pick<FilePlatform, "service">,
  id: string,
  now = Date.now(),
): string => exportLinks(cipher, url).download({ kind: "data", id }, now).url;

/** Requests an export, waits for it, and returns its archive. */
export async function requestArchive(
  town: FilePlatform,
  of: Account,
  scope: ExportScope,
  filter: Partial<ExportFilter> = {},
): Promise<Archive> {
  const { store } = town.service;
  const id = await requestExport(store, of, scope, filter);
  const { status, error, archive } = await waitForExport(store, id);
  if (status !== "completed" || !archive) throw new Error(`${status}: ${error}`);
  const bytes = Buffer.from(await (await fetch(downloadUrl(town, id))).arrayBuffer());
  if (bytes.length !== archive.bytes || createHash("sha256").update(bytes).digest("hex") !== archive.sha256)
    throw new Error("other bytes");
  return { id, bytes, files: await readZip(bytes) };
}

/** A fetched archive. */
export interface Archive {
  readonly id: string;
  readonly bytes: Buffer;
  readonly files: Unzipped;
}

/** The entries of a ZIP. */
export interface Unzipped {
  readonly names: readonly string[];
  read(name: string): Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: rows are read as the recipient sees them
  json(name: string): any[];
}

/** Opens a ZIP with a library other than the one that made it; checks sizes and checksums. */
export async function readZip(bytes: Buffer): Promise<Unzipped> {
  const zip = (await promisify<Buffer, object, ZipFile>(fromBuffer)(bytes, {
    lazyEntries: true,
    strictFileNames: true,
  })) as ZipFile;
  const open = promisify(zip.openReadStream.bind(zip)) as (entry: ZipEntry) => Promise<NodeJS.ReadableStream>;
  const found: [string, Buffer][] = [];
  await new Promise<void>((resolve, reject) => {
    zip.on("error", reject).on("end", resolve);
    zip.on("entry", (entry: ZipEntry) => {
      open(entry)
        .then(buffer)
        .then((held) => {
          found.push([entry.fileName, held]);
          zip.readEntry();
        })
        .catch(reject);
    });
    zip.readEntry();
  });
  const read = (name: string): Buffer => {
    const one = found.find(([known]) => known === name);
    if (!one) throw new Error(`no entry ${name} among ${found.map(([known]) => known).join(", ")}`);
    return one[1];
  };
  return {
    names: found.map(([name]) => name),
    read,
    json: (name) => JSON.parse(read(name).toString("utf8")),
  };
}
