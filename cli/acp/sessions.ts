import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * The tasks of sessions. A session begins before its task, and editors load it by its first id, so a file for
 * each session has the id of its task (`$XDG_STATE_HOME/atp/acp/SESSION`).
 */
export interface StoredSessions {
  /** The task of a session; null when it has none. */
  readonly find: (sessionId: string) => string | null;
  /** Without a folder that can be written, the session lives as long as the program. */
  readonly save: (sessionId: string, taskId: string) => void;
}

/** Sessions that are kept; the oldest are removed. */
const sessionsMax = 1_000;
const sessionForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const taskForm = /^[A-Za-z0-9]{22}$/;

/** @param origin of the installation: a task is found only there. */
export function openSessions(env: Readonly<Partial<Record<string, string>>>, origin: string): StoredSessions {
  const base = env["XDG_STATE_HOME"];
  const folder = join(
    base?.startsWith("/") ? base : join(env["HOME"] ?? homedir(), ".local/state"),
    "atp/acp",
  );
  return {
    find(sessionId) {
      if (!sessionForm.test(sessionId)) return null;
      try {
        const [at, taskId = ""] = readFileSync(join(folder, sessionId), "utf8").split("\n");
        return at === origin && taskForm.test(taskId) ? taskId : null;
      } catch {
        return null;
      }
    },
    save(sessionId, taskId) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(join(folder, sessionId), `${origin}\n${taskId}\n`, { mode: 0o600 });
        prune(folder);
      } catch {
        // The editor can load the session by the id of its task.
      }
    },
  };
}

function prune(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= sessionsMax) return;
  const byAge = names
    .map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => a.at - b.at);
  for (const { name } of byAge.slice(0, names.length - sessionsMax))
    rmSync(join(folder, name), { force: true });
}
