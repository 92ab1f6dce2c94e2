import type { Caller } from "../caller.ts";
import type { Tx } from "../store.ts";
import type { WantedMeans } from "../tasks/means.ts";

/**
 * The connectors that a new task begins with, and keeps (contract/v2.md 9.9); undefined
 * is as good as none, and writes nothing. Runs in the change that creates the task.
 */
export async function connectorsAtCreate(_tx: Tx, _caller: Caller, wanted: WantedMeans, _projectId: string | null) {
  return wanted.connectors.length === 0 ? undefined : wanted.connectors;
}

/**
 * The connectors of a task from a further message on; undefined: those it has stay (contract/v2.md 9.9).
 *
 * @param clear `clear_connectors` was said: none any longer.
 */
export async function connectorsAtSend(_tx: Tx, _caller: Caller, wanted: WantedMeans, clear: boolean) {
  if (clear) return [];
  return wanted.connectors.length === 0 ? undefined : wanted.connectors;
}
