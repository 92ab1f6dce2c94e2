import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Config } from "../../../src/config/config.ts";
import type { Blobs } from "../../../src/core/files/blob.ts";
import { openBlobs } from "../../../src/modules/blobs.ts";
import { onPostgres } from "./database.ts";
import { type Check, type Finding, fail, ok } from "./finding.ts";

/** What the check reads of a segment. */
interface Segment {
  readonly task: string;
  readonly blob: string;
  readonly sha256: string;
}

/** Segments that are read at most, chosen at random. */
const sampleMax = 100;
const columns = "task_id AS task, blob_id AS blob, sha256";
const sample = `SELECT ${columns} FROM event_segment ORDER BY random() LIMIT ${sampleMax}`;

async function readSample(
  { database, databaseUrl }: Config,
  signal: AbortSignal,
): Promise<readonly Segment[]> {
  if (database === "postgresql")
    return onPostgres(databaseUrl, signal, async (client) => {
      const [{ found } = { found: false }] = (
        await client.query("SELECT to_regclass('event_segment') IS NOT NULL AS found")
      ).rows;
      return found ? (await client.query<Segment>(sample)).rows : [];
    });
  const path = databaseUrl.replace(/^file:/, "");
  if (!existsSync(path)) return [];
  using file = new DatabaseSync(path, { readOnly: true });
  const found = file.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'event_segment'").get();
  return found
    ? file
        .prepare(sample)
        .all()
        .map(({ task, blob, sha256 }) => ({ task: `${task}`, blob: `${blob}`, sha256: `${sha256}` }))
    : [];
}

async function isWhole(blobs: Pick<Blobs, "read">, { blob, sha256 }: Segment): Promise<boolean> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of await blobs.read(blob)) hash.update(chunk);
  } catch {
    return false;
  }
  return hash.digest("hex") === sha256;
}

/**
 * Whether files of archived events are as they were written. It needs no key: the database has their SHA-256.
 */
export const archive = (config: Config): Check => ({
  name: "archive",
  advice: "Check the database and the storage of files.",
  async run(signal) {
    const blobs = openBlobs(config);
    const [read, damaged]: [Segment[], Segment[]] = [[], []];
    for (const segment of await readSample(config, signal)) {
      if (signal.aborted) break;
      read.push(segment);
      if (!(await isWhole(blobs, segment))) damaged.push(segment);
    }
    return [findingOf(read, damaged)];
  },
});

function findingOf(read: readonly Segment[], damaged: readonly Segment[]): Finding {
  if (read.length === 0) return ok("no events are archived");
  if (damaged.length === 0)
    return ok(`${read.length} files of archived events were read, all as they were written`);
  const tasks = [...new Set(damaged.map(({ task }) => task))].slice(0, 10).join(", ");
  return fail(
    `${damaged.length} of ${read.length} files of archived events are missing or damaged; tasks: ${tasks}`,
    "Restore these files from a backup (docs/operate/retention.md). A file has the name of its blob_id in the table event_segment.",
  );
}
