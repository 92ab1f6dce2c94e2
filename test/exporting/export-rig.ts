import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { fromBuffer, type Entry as ZipEntry, type ZipFile } from "yauzl";
import type { Clock } from "../../src/core/clock.ts";
import type { Export, ExportFilter, ExportScope } from "../../src/core/exports/export.ts";
import { exportLinks } from "../../src/core/exports/links.ts";
import type { Blobs } from "../../src/core/files/blobs.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Log } from "../../src/core/log.ts";
import type { Store } from "../../src/core/store.ts";
import { type Exporter, startExporter } from "../../src/exporting/exporter.ts";
import { exportWriters } from "../../src/wiring/export-writers.ts";
import { type FileTown, until } from "../files/files-rig.ts";
import { cipher } from "../support/cipher.ts";
import type { Person } from "../support/service.ts";

/** What makes archives, over a storage, and nothing else of a platform. */
export const exporterOver = (store: Store, blobs: Blobs, clock: Clock, log: Log = () => undefined): Exporter =>
  startExporter({
    ...{ store, blobs, clock, cipher, log, random: systemRandom, writers: exportWriters },
    writer: writer({ store, blobs, clock, ids: systemIds, quota: 1 }),
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

type Subject = Pick<Person, "accountId" | "spaceId">;

/** Asks for an export as the operation does, and answers its id. */
export async function ask(
  store: Store,
  of: Subject,
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

/** The export once it has ended. */
export async function ended(store: Store, id: string): Promise<Export> {
  let found: Export | null = null;
  await until(async () => {
    found = await store.exports.byId(id);
    return found?.completedAt !== null;
  });
  if (found === null) throw new Error("no such export");
  return found;
}

/** Where an archive is fetched. */
export const linkOf = ({ service: { url } }: Pick<FileTown, "service">, id: string, now = Date.now()): string =>
  exportLinks(cipher, url).download({ kind: "data", id }, now).url;

/** Asks for an export, waits for it, and answers its archive. */
export async function archived(town: FileTown, of: Subject, scope: ExportScope, filter: Partial<ExportFilter> = {}): Promise<Archive> {
  const { store } = town.service;
  const id = await ask(store, of, scope, filter);
  const { status, error, archive } = await ended(store, id);
  if (status !== "completed" || !archive) throw new Error(`${status}: ${error}`);
  const bytes = Buffer.from(await (await fetch(linkOf(town, id))).arrayBuffer());
  if (bytes.length !== archive.bytes || createHash("sha256").update(bytes).digest("hex") !== archive.sha256) throw new Error("other bytes");
  return { id, bytes, files: await unzipped(bytes) };
}

/** An archive that was fetched. */
export interface Archive {
  readonly id: string;
  readonly bytes: Buffer;
  readonly files: Unzipped;
}

/** The entries of a ZIP. */
export interface Unzipped {
  readonly names: readonly string[];
  read(name: string): Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: rows are read as whoever unpacks them sees them
  json(name: string): any[];
}

/** Opens a ZIP with another library than that which made it; sizes and checksums are checked. */
export async function unzipped(bytes: Buffer): Promise<Unzipped> {
  const zip = (await promisify<Buffer, object, ZipFile>(fromBuffer)(bytes, { lazyEntries: true, strictFileNames: true })) as ZipFile;
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
  return { names: found.map(([name]) => name), read, json: (name) => JSON.parse(read(name).toString("utf8")) };
}
