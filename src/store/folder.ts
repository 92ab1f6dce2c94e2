import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { causeText, Failure, rootCause } from "../core/failure.ts";
import { isBusy } from "./driver-failure.ts";
import { type FileLock, lockFile } from "./sqlite-adapter.ts";

/**
 * Creates a folder and its parents, with access for this process's user only, and checks that it can be
 * written, also if its disk is full: then reads still work.
 *
 * @param setting the variable that names the folder, for the error.
 * @throws Failure `failed_precondition` in one sentence with the setting, the folder and the cause.
 */
export function makeFolder(folder: string, setting: string): void {
  try {
    makeEach(folder);
    checkWritable(folder);
  } catch (thrown) {
    if (rootCause(thrown).code === "ENOSPC" && existsSync(folder)) return;
    const text = `${setting}: the folder ${folder} cannot be written${ownershipNote(folder)}: ${causeText(thrown)}`;
    throw new Failure("failed_precondition", text);
  }
}

/** Creates the folders one by one: Node's `mkdir` with `recursive` never returns below /proc. */
function makeEach(folder: string): void {
  if (existsSync(folder)) return;
  makeEach(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    // Another process may have made it in the meantime.
    if (!existsSync(folder)) throw thrown;
  }
}

function checkWritable(folder: string): void {
  const path = join(folder, `.write-test-${process.pid}`);
  const file = openSync(path, "w", 0o600);
  try {
    writeSync(file, "written");
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

/** Undefined if the path does not exist or cannot be read. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The end of "cannot be …" for a file or folder of another user: ` by user 1000, it belongs to user 0`; empty
 * for the process's own.
 */
export function ownershipNote(path: string): string {
  const owner = statOf(path)?.uid;
  const self = process.getuid?.();
  return owner === undefined || owner === self ? "" : ` by user ${self}, it belongs to user ${owner}`;
}

/** The mode bits of other users of the machine. */
const others = 0o077;

const modeOf = (path: string): number => (statOf(path)?.mode ?? 0) & 0o777;

/**
 * Removes the access of other users of the machine to our files.
 *
 * @param folder the data folder, whose own mode stays as it is.
 * @param paths our files and folders; missing ones are skipped.
 * @returns a warning for the operator; null when others have no access.
 */
export function tightenFiles(folder: string, paths: readonly string[]): string | null {
  const open = paths.filter((path) => (modeOf(path) & others) > 0);
  const failed = open.flatMap(tighten);
  const mode = modeOf(folder);
  const texts = [
    ...((mode & others) > 0
      ? [
          `other users of this machine can enter the data folder ${folder} (mode 0${mode.toString(8)}), which should have mode 0700`,
        ]
      : []),
    ...(open.length > failed.length
      ? [`closed to other users: ${open.filter((path) => (modeOf(path) & others) === 0).join(", ")}`]
      : []),
    ...failed,
  ];
  return texts.length === 0 ? null : texts.join("; ");
}

/** Returns a text for a failure, or an empty list. */
function tighten(path: string): string[] {
  try {
    chmodSync(path, modeOf(path) & ~others);
    return [];
  } catch (thrown) {
    return [
      `other users can read ${path}, and its mode cannot be changed${ownershipNote(path)}: ${causeText(thrown)}`,
    ];
  }
}

/**
 * Locks a data folder until this process ends: a second server on it would run the same
 * tasks twice. The lock is the operating system's, so it is released even if the
 * process crashes.
 *
 * @throws Failure `failed_precondition` when another process holds the folder, or it cannot be written.
 */
export async function lockFolder(dataDir: string): Promise<FileLock> {
  makeFolder(dataDir, "DATA_DIR");
  const path = join(dataDir, "lock.db");
  try {
    return await lockFile(path);
  } catch (thrown) {
    const text = isBusy(thrown)
      ? `another server runs on the folder ${dataDir}: stop it, or choose another DATA_DIR`
      : `DATA_DIR: the file ${path} cannot be opened${ownershipNote(path)}: ${causeText(thrown)}`;
    throw new Failure("failed_precondition", text);
  }
}

/** The file that marks a data folder of `atp serve --test`. */
export const testMarker = "test-mode";

/** Whether test mode made a data folder. @param orFree also true if nothing is there. */
export const isTestFolder = (folder: string, { orFree = false } = {}): boolean =>
  existsSync(join(folder, testMarker)) || (orFree && !existsSync(folder));
