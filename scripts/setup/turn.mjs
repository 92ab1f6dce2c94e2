// One process of a checkout sets up at a time. The newest file turn.N names the process whose turn
// it is. Nobody removes the newest one, so a turn passes on only by making turn.N+1, which the file
// system grants to one process: two that find the same dead holder cannot both take over.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 100;

/** Waits until no other living process has the turn; answers the function that ends ours. */
export async function takeTurn(root) {
  const folder = join(root, ".setup");
  mkdirSync(folder, { recursive: true });
  const ticket = join(folder, `ticket.${process.pid}`);
  writeFileSync(ticket, identity(process.pid) ?? "");
  try {
    for (let told = false; ; told = true) {
      const holder = newest(folder);
      if (!isHeld(holder.path)) {
        const mine = claim(folder, ticket, holder.number + 1);
        if (mine) return () => writeFileSync(mine, "");
      } else {
        if (!told) process.stderr.write("setup: waiting for another process that is setting up\n");
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
  // Whoever looked long ago may have made a number that was used up since.
  const overtaken = newest(folder).number > number;
  for (const turn of turns(folder)) if (turn.number < number || (overtaken && turn.number === number)) rmSync(turn.path, { force: true });
  return overtaken ? undefined : path;
}

function turns(folder) {
  const names = readdirSync(folder).filter((name) => /^turn\.\d+$/.test(name));
  return names.map((name) => ({ number: Number(name.slice("turn.".length)), path: join(folder, name) }));
}

const newest = (folder) => turns(folder).reduce((a, b) => (b.number > a.number ? b : a), { number: 0, path: undefined });

function isHeld(path) {
  if (path === undefined) return false;
  const holder = read(path);
  // Ended turns are empty; a process id alone could have been given to another process since.
  return holder !== "" && identity(Number(holder.split(" ")[0])) === holder;
}

/** The file may be gone by now: then somebody newer has the turn, and making our number will fail. */
function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A living process by its id and, where the system tells it, its start; undefined for a dead one. */
function identity(pid) {
  const stat = read(`/proc/${pid}/stat`);
  if (stat !== "") {
    // After the command's name in brackets: state, and as the twentieth the start in clock ticks.
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
