import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import { isBusy } from "./driver-failure.ts";
import { connectSqlite } from "./sqlite-adapter.ts";

/** A data folder that this process has for itself. */
export interface HeldFolder {
  release(): Promise<void>;
}

/**
 * Holds a data folder for the life of this process: a second server on it would run
 * the same tasks twice. The lock is the operating system's, so it ends with the
 * process, however that dies.
 *
 * @throws Failure `precondition` when another process holds the folder.
 */
export async function holdFolder(dataDir: string): Promise<HeldFolder> {
  mkdirSync(dataDir, { recursive: true });
  const lock = await connectSqlite(join(dataDir, "lock.db"));
  try {
    await lock.executeScript("BEGIN EXCLUSIVE");
  } catch (thrown) {
    await lock.dispose();
    if (!isBusy(thrown)) throw thrown;
    throw new Failure("precondition", `another server runs on the folder ${dataDir}: stop it, or choose another DATA_DIR`);
  }
  return { release: () => lock.dispose() };
}
