import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../core/failure.ts";
import { isBusy } from "./driver-failure.ts";
import { type FileLock, lockFile } from "./sqlite-adapter.ts";

/**
 * Holds a data folder for the life of this process: a second server on it would run
 * the same tasks twice. The lock is the operating system's, so it ends with the
 * process, however that dies.
 *
 * @throws Failure `precondition` when another process holds the folder.
 */
export async function holdFolder(dataDir: string): Promise<FileLock> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    return await lockFile(join(dataDir, "lock.db"));
  } catch (thrown) {
    if (!isBusy(thrown)) throw thrown;
    throw new Failure("precondition", `another server runs on the folder ${dataDir}: stop it, or choose another DATA_DIR`);
  }
}
