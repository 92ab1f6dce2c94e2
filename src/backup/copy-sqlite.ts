import { existsSync } from "node:fs";
import { constants, copyFile, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../adapters/storage/durable-file.ts";
import { causeText, Failure } from "../core/failure.ts";
import { pathOf } from "../store/backend.ts";
import { makeFolder } from "../store/folder.ts";
import { connectReadOnly, driverOf } from "../store/sqlite-adapter.ts";
import { blobPage, type CopiedBlob, type DatabaseCopier, inPages } from "./copy.ts";

/**
 * Copies SQLite by VACUUM INTO from a connection that cannot write. It reads one moment while servers write:
 * the online backup of SQLite begins again with each write.
 */
export const sqliteCopier: DatabaseCopier = {
  async copy(databaseUrl, path) {
    const source = await connectReadOnly(pathOf(databaseUrl));
    try {
      driverOf(source).prepare("VACUUM INTO ?").run(path);
    } catch (thrown) {
      throw new Failure(
        "failed_precondition",
        `the database cannot be copied to ${path}: ${causeText(thrown)}`,
      );
    } finally {
      await source.dispose();
    }
    await sync(path);
    const copy = await connectReadOnly(path);
    const all = <Row>(text: string, ...values: unknown[]): readonly Row[] =>
      driverOf(copy)
        .prepare(text)
        .safeIntegers(false)
        .all(...values) as readonly Row[]; // Each statement names its columns.
    const [latest] = all<{ name: string }>("SELECT max(migration_name) AS name FROM _prisma_migrations");
    return {
      migration: latest?.name ?? "",
      blobs: () =>
        inPages(async (after) =>
          all<CopiedBlob>(
            `SELECT id, bytes FROM blob WHERE state = 'kept' AND id > ? ORDER BY id LIMIT ${blobPage}`,
            after,
          ),
        ),
      [Symbol.asyncDispose]: () => copy.dispose(),
    };
  },

  async checkEmpty(databaseUrl) {
    const path = pathOf(databaseUrl);
    if (existsSync(path))
      throw new Failure("failed_precondition", `there is a database in ${path}: restore into an empty place`);
  },

  async look(databaseUrl) {
    if (existsSync(pathOf(databaseUrl))) return "used";
    return existsSync(draftOf(databaseUrl)) ? "begun" : "empty";
  },

  async begin(databaseUrl) {
    makeFolder(dirname(pathOf(databaseUrl)), "DATABASE_URL or DATA_DIR");
    return `file:${draftOf(databaseUrl)}`;
  },

  async finish(databaseUrl) {
    const draft = draftOf(databaseUrl);
    await sync(draft);
    await rename(draft, pathOf(databaseUrl));
    await syncFolder(dirname(draft));
    await removeFiles(draft);
  },

  async setting(databaseUrl, key) {
    const connection = await connectReadOnly(pathOf(databaseUrl));
    try {
      const [row] = driverOf(connection)
        .prepare("SELECT value FROM setting WHERE key = ?")
        .all(key) as readonly { value: string }[]; // its column
      return row?.value ?? null;
    } catch {
      return null;
    } finally {
      await connection.dispose();
    }
  },

  isUnused: async () => true,

  async restore(databaseUrl, path, prepare) {
    const target = pathOf(databaseUrl);
    const draft = `${target}.restoring`;
    makeFolder(dirname(target), "DATABASE_URL or DATA_DIR");
    try {
      await copyFile(path, draft, constants.COPYFILE_EXCL);
      await prepare(`file:${draft}`);
      await sync(draft);
      await rename(draft, target);
    } finally {
      await removeFiles(draft);
    }
    await syncFolder(dirname(target));
  },
};

/** The file of a database that is not complete. */
const draftOf = (databaseUrl: string): string => `${pathOf(databaseUrl)}.incomplete`;

/** Deletes a database with the files that SQLite and `openSqlite` keep next to it. */
async function removeFiles(path: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", "-start"]) await rm(`${path}${end}`, { force: true });
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
