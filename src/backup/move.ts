import type { Config } from "../config/config.ts";
import { verifyChain } from "../core/audit/chain.ts";
import type { Cipher } from "../core/cipher.ts";
import { Failure } from "../core/failure.ts";
import type { Blobs } from "../core/files/blob.ts";
import { checkNotHeld, findMove, holdForMove, type Move, release } from "../core/processes/hold.ts";
import type { Store } from "../core/store.ts";
import { databaseLocation } from "../store/backend.ts";
import { lockFolder } from "../store/folder.ts";
import { copierOf } from "./copier.ts";
import type { DatabaseCopier, Environment } from "./copy.ts";
import { copyFiles } from "./move-files.ts";
import { firstProgress, type Progress, parseProgress, progressSetting } from "./move-progress.ts";
import { compareTables, copyTables, indexTexts, putJobs, type TableSum } from "./move-tables.ts";

/** An installation before or after the move. */
export interface Side {
  readonly config: Pick<Config, "database" | "databaseUrl" | "dataDir" | "bucket">;
  readonly cipher: Pick<Cipher, "check">;
  readonly blobs: Pick<Blobs, "put" | "read">;
  readonly open: (databaseUrl: string) => Promise<Store>;
}

export interface MoveParts {
  readonly source: Side;
  /** Its `open` must open an incomplete database. */
  readonly target: Side;
  /** The bytes of files are copied to the storage of the target; otherwise both have the same storage. */
  readonly copiesFiles: boolean;
  readonly env: Environment;
  readonly now: () => number;
  readonly newId: () => string;
  /** Whether a process that runs tasks is alive. */
  readonly isServed: (store: Store) => Promise<boolean>;
  readonly onProgress: (step: string, progress: Pick<Progress, "rows" | "files" | "bytes">) => void;
}

/** What was moved. */
export interface MoveReport extends Pick<Progress, "rows" | "files" | "bytes"> {
  /** Absent when an earlier run had already ended the move. */
  readonly tables?: Readonly<Record<string, TableSum>>;
  /** The number of audit logs that are intact. */
  readonly logs?: number;
}

/**
 * Moves an installation to an empty database. Killed at any point, another call continues. The source is held
 * from its begin on, and stays held. The target cannot be opened by others before it is complete and
 * verified; then servers can start on it.
 *
 * @throws Failure `failed_precondition` when servers run on the source, the target is not empty, or the copy
 * differs
 */
export async function move(parts: MoveParts): Promise<MoveReport> {
  const { source, target, env } = parts;
  checkSides(parts);
  const found = await inSource(source, findMove);
  const lock = source.config.database === "sqlite" ? await lockFolder(source.config.dataDir) : null;
  try {
    const copier = await copierOf(target.config.database, env);
    const { id, done } = await holdSource(parts, copier, found);
    if (done !== null) return done;
    const report = await fill(parts, copier, id);
    await copier.finish(target.config.databaseUrl);
    return report;
  } finally {
    await lock?.release();
  }
}

function checkSides({ source, target, copiesFiles }: MoveParts): void {
  if (source.config.databaseUrl === target.config.databaseUrl)
    throw new Failure("failed_precondition", "the source and the target are the same database");
  if (source.cipher.check !== target.cipher.check)
    throw new Failure(
      "failed_precondition",
      "the target has another ENCRYPTION_KEY: the key of the source moves with it",
    );
  const isSame = storageOf(source) === storageOf(target);
  if (!copiesFiles && !isSame)
    throw new Failure(
      "failed_precondition",
      "the target has another storage of files: copy them by --files copy, or use the same storage",
    );
  if (copiesFiles && isSame)
    throw new Failure(
      "failed_precondition",
      "the source and the target have the same storage of files: there is nothing to copy",
    );
}

const storageOf = ({ config: { bucket, dataDir } }: Side): string =>
  JSON.stringify(bucket === null ? [dataDir] : [bucket.endpoint, bucket.name, bucket.prefix]);

/** Holds the source, unless an earlier run has. `done`: that run had ended the move. */
async function holdSource(
  parts: MoveParts,
  copier: DatabaseCopier,
  found: Move | null,
): Promise<{ id: string; done: MoveReport | null }> {
  const { source, target } = parts;
  const { databaseUrl } = source.config;
  const to = databaseLocation(target.config.databaseUrl);
  if (found !== null && found.to !== to)
    throw new Failure(
      "failed_precondition",
      `a move to ${found.to} has begun: continue it, or abandon it by \`./atp resume --abandon-move\``,
    );
  const place = await copier.look(target.config.databaseUrl);
  if (place === "used") return { id: found?.id ?? "", done: await completed(parts, copier, found) };
  const move = found ?? { id: parts.newId(), to };
  if (found === null) await holdNew(parts, move);
  const isUnused = await (await copierOf(source.config.database, parts.env)).isUnused(databaseUrl);
  if (!isUnused && found === null) await inSource(source, (store) => store.change((tx) => release(tx, true)));
  if (!isUnused) throw running(databaseUrl);
  return { id: move.id, done: null };
}

/**
 * @throws Failure `failed_precondition` unless the database in the target's place is that of the complete
 * move
 */
async function completed(
  { target }: MoveParts,
  copier: DatabaseCopier,
  found: Move | null,
): Promise<MoveReport> {
  const stored = await copier.setting(target.config.databaseUrl, progressSetting);
  const progress = stored !== null && stored !== "" && found !== null ? parseProgress(stored) : null;
  if (progress === null || progress.id !== found?.id)
    throw new Failure(
      "failed_precondition",
      `${databaseLocation(target.config.databaseUrl)} is not empty: move into an empty place`,
    );
  return { rows: progress.rows, files: progress.files, bytes: progress.bytes };
}

async function holdNew({ source, isServed, now }: MoveParts, move: Move): Promise<void> {
  await inSource(source, async (store) => {
    if (source.config.database === "postgresql" && (await isServed(store)))
      throw running(source.config.databaseUrl);
    await store.change(async (tx) => {
      await checkNotHeld(tx);
      await holdForMove(tx, now(), move);
    });
  });
}

/** Opens the source for one piece of work, and closes it: then only other processes can have it open. */
async function inSource<T>({ open, config }: Side, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await open(config.databaseUrl);
  return work(store).finally(async () => store.close());
}

const running = (databaseUrl: string): Failure =>
  new Failure(
    "failed_precondition",
    `servers or commands use ${databaseLocation(databaseUrl)}: stop them, then move`,
  );

/** Copies and verifies everything. */
async function fill(parts: MoveParts, copier: DatabaseCopier, id: string): Promise<MoveReport> {
  const { source, target, copiesFiles, onProgress } = parts;
  const from = await source.open(source.config.databaseUrl);
  try {
    const to = await target.open(await copier.begin(target.config.databaseUrl));
    try {
      let progress = await copyTables(from, to, await begin(to, id), (done) => onProgress("copied", done));
      await indexTexts(to);
      await putJobs(from, to);
      const storages = { from: source.blobs, to: target.blobs };
      if (copiesFiles)
        progress = await copyFiles(storages, to, progress, (done) => onProgress("copied", done));
      const tables = await compareTables(from, to, (table) =>
        onProgress(`copied, ${table} verified`, progress),
      );
      const { rows, files, bytes } = progress;
      return { rows, files, bytes, tables, logs: await verifyLogs(to) };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** The progress of the target. @throws Failure `failed_precondition` when it has rows of something else */
async function begin(target: Store, id: string): Promise<Progress> {
  const stored = await target.settings.get(progressSetting);
  if (stored === null && (await target.accounts.firstTeam()) === null) {
    await target.change((tx) => tx.settings.put(progressSetting, JSON.stringify(firstProgress(id))));
    return firstProgress(id);
  }
  const progress = stored === null ? null : parseProgress(stored);
  if (progress?.id !== id)
    throw new Failure(
      "failed_precondition",
      "the target has the rows of a restore or of another move, which has not ended: empty it first",
    );
  return progress;
}

async function verifyLogs(store: Store): Promise<number> {
  let count = 0;
  for (
    let spaces = await store.auditChain.spaces("", 100);
    spaces.length > 0;
    spaces = await store.auditChain.spaces(spaces.at(-1) ?? "", 100)
  )
    for (const space of spaces) {
      const { fault } = await verifyChain(store, space, null);
      if (fault !== null)
        throw new Failure(
          "failed_precondition",
          `the audit log of the space ${space} is broken at ${fault.seq}: ${fault.text}`,
        );
      count += 1;
    }
  return count;
}
