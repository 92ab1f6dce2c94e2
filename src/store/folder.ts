import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../core/failure.ts";
import { causeText } from "../core/root-cause.ts";
import { isBusy } from "./driver-failure.ts";
import { type FileLock, lockFile } from "./sqlite-adapter.ts";

/**
 * Makes a folder and those above it, for this process's user alone, and tries that it can be written.
 *
 * @param setting the variable that names the folder, for the error.
 * @throws Failure `precondition` in one sentence with the setting, the folder and the cause.
 */
export function makeFolder(folder: string, setting: string): void {
  try {
    makeEach(folder);
    tryWriting(folder);
  } catch (thrown) {
    const text = `${setting}: the folder ${folder} cannot be written${ownership(folder)}: ${causeText(thrown)}`;
    throw new Failure("precondition", text);
  }
}

/** Makes one folder after the other: `mkdir` of Node with `recursive` never returns below /proc. */
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

function tryWriting(folder: string): void {
  const path = join(folder, `.write-test-${process.pid}`);
  const file = openSync(path, "w", 0o600);
  try {
    writeSync(file, "written");
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}

/** Undefined for what is not there or cannot be asked about. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** The end of "cannot be …" for a file or folder of another user: ` by user 1000, it belongs to user 0`; empty for one's own. */
export function ownership(path: string): string {
  const owner = statOf(path)?.uid;
  const self = process.getuid?.();
  return owner === undefined || owner === self ? "" : ` by user ${self}, it belongs to user ${owner}`;
}

/** What other users of the machine may do with a file or a folder. */
const others = 0o077;

const modeOf = (path: string): number => (statOf(path)?.mode ?? 0) & 0o777;

/**
 * Takes from other users of the machine what they may do with our files.
 *
 * @param folder the data folder, whose own mode stays as it is.
 * @param paths files and folders of ours; those that are missing are passed over.
 * @returns a warning for the operator; null when others have no access.
 */
export function tightenFiles(folder: string, paths: readonly string[]): string | null {
  const open = paths.filter((path) => (modeOf(path) & others) > 0);
  const failed = open.flatMap(tighten);
  const mode = modeOf(folder);
  const texts = [
    ...((mode & others) > 0
      ? [`other users of this machine can enter the data folder ${folder} (mode 0${mode.toString(8)}), which should have mode 0700`]
      : []),
    ...(open.length > failed.length ? [`closed to other users: ${open.filter((path) => (modeOf(path) & others) === 0).join(", ")}`] : []),
    ...failed,
  ];
  return texts.length === 0 ? null : texts.join("; ");
}

/** Answers what could not be done. */
function tighten(path: string): string[] {
  try {
    chmodSync(path, modeOf(path) & ~others);
    return [];
  } catch (thrown) {
    return [`other users can read ${path}, and its mode cannot be changed${ownership(path)}: ${causeText(thrown)}`];
  }
}

/**
 * Holds a data folder for the life of this process: a second server on it would run
 * the same tasks twice. The lock is the operating system's, so it ends with the
 * process, however that dies.
 *
 * @throws Failure `precondition` when another process holds the folder, or it cannot be written.
 */
export async function holdFolder(dataDir: string): Promise<FileLock> {
  makeFolder(dataDir, "DATA_DIR");
  const path = join(dataDir, "lock.db");
  try {
    return await lockFile(path);
  } catch (thrown) {
    const text = isBusy(thrown)
      ? `another server runs on the folder ${dataDir}: stop it, or choose another DATA_DIR`
      : `DATA_DIR: the file ${path} cannot be opened${ownership(path)}: ${causeText(thrown)}`;
    throw new Failure("precondition", text);
  }
}
