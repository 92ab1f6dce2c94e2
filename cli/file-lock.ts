import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { CommandError } from "./frame/failures.ts";

/** A lock that is older than this was left by a process that stopped: a refresh is given up after 30 s. */
const staleMs = 60_000;
const pauseMs = 20;

/** Takes the lock file. False while another process has it. */
function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    if (isStale(path)) rmSync(path, { force: true });
    return false;
  }
}

/** Whether the process of a lock is gone. A lock that was released in the meantime is not stale. */
function isStale(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > staleMs) return true;
    const holder = Number(readFileSync(path, "utf8"));
    if (holder > 0) process.kill(holder, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

const tooLong = (path: string): CommandError =>
  new CommandError(`${path}: another process has this lock for too long. Remove it.`);

/** Runs work while no other process has the lock. @throws CommandError after 60 s */
export function withLock<T>(path: string, work: () => T): T {
  const end = Date.now() + staleMs;
  while (!take(path)) {
    if (Date.now() > end) throw tooLong(path);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** As `withLock`, for work that waits. @throws CommandError after 60 s */
export async function withLockAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + staleMs;
  while (!take(path)) {
    if (Date.now() > end) throw tooLong(path);
    await setTimeout(pauseMs);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}
