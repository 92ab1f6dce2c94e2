// A lock: one process of a checkout sets up at a time. The newest file turn.N names the process that
// has the turn. The newest file is never removed, so a turn passes only by creating turn.N+1, which the
// file system allows one process only: two processes that find the same dead holder cannot both take over.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 100;

/** Waits until no other live process has the turn; returns a function that ends this process's turn. */
export async function takeTurn(root) {
  const folder = join(root, ".setup");
  mkdirSync(folder, { recursive: true });
  const ticket = join(folder, `ticket.${process.pid}`);
  writeFileSync(ticket, identity(process.pid) ?? "");
  try {
    for (let isReported = false; ; isReported = true) {
      const holder = newest(folder);
      if (!isHeld(holder.path)) {
        const mine = claim(folder, ticket, holder.number + 1);
        if (mine) return () => writeFileSync(mine, "");
      } else {
        if (!isReported) process.stderr.write("setup: waiting for another process that is setting up\n");
        await delay(pollMs);
      }
    }
  } finally {
    rmSync(ticket, { force: true });
  }
}

function claim(folder, ticket, number) {
  const path = join(folder, `turn.${number}`);
  try {
    // A link appears with its content; a file that is created and then written can be seen empty.
    linkSync(ticket, path);
  } catch (error) {
    if (error.code === "EEXIST") return undefined;
    throw error;
  }
  // A process that read the folder long ago may have created a number that is used and removed.
  const overtaken = newest(folder).number > number;
  for (const turn of turns(folder))
    if (turn.number < number || (overtaken && turn.number === number)) rmSync(turn.path, { force: true });
  return overtaken ? undefined : path;
}

function turns(folder) {
  const names = readdirSync(folder).filter((name) => /^turn\.\d+$/.test(name));
  return names.map((name) => ({ number: Number(name.slice("turn.".length)), path: join(folder, name) }));
}

const newest = (folder) =>
  turns(folder).reduce((a, b) => (b.number > a.number ? b : a), { number: 0, path: undefined });

function isHeld(path) {
  if (path === undefined) return false;
  const holder = read(path);
  // Ended turns are empty. A process ID alone is not enough, because the system can reuse it.
  return holder !== "" && identity(Number(holder.split(" ")[0])) === holder;
}

/** Returns "" for a missing file: then a newer process has the turn, and creating this number fails. */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/**
 * Identifies a live process by its ID and, if the system provides it, its start time; undefined for a dead
 * process.
 */
function identity(pid) {
  const stat = read(`/proc/${pid}/stat`);
  if (stat !== "") {
    // Fields after the command's name in brackets: the first is the state, the twentieth the start time in
    // clock ticks.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return /[ZX]/.test(fields[0]) ? undefined : `${pid} ${fields[19]}`;
  }
  try {
    process.kill(pid, 0);
    return `${pid}`;
  } catch (error) {
    return error.code === "EPERM" ? `${pid}` : undefined;
  }
}
