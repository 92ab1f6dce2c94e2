import type { Caller } from "../caller.ts";
import { invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { WantedMeans } from "../tasks/means.ts";
import { effective, type InstalledConnector } from "./connector.ts";
import { grantedOf } from "./granted.ts";

/** What is known where the connectors of a task are decided on; ids all of it. */
export interface Known {
  /** Installed for the caller, its own or the space's. */
  readonly installed: readonly string[];
  /** The caller's default-enabled ones. */
  readonly enabled: readonly string[];
  /** The project's defaults; null without a project. */
  readonly ofProject: readonly string[] | null;
  /** Those of some ids that the caller may use. */
  readonly granted: (uids: readonly string[]) => readonly string[];
}

/** A new task's connectors (contract/v2.md 9.9). Defaults that are not installed or not granted are dropped silently. */
export function atCreate(wanted: Pick<WantedMeans, "connectors" | "noConnectors">, known: Known): readonly string[] {
  if (wanted.connectors.length > 0) return checkInstalled([...new Set(wanted.connectors)], known);
  if (wanted.noConnectors) return [];
  const defaults = known.ofProject ?? known.enabled;
  return known.granted(defaults.filter((uid) => known.installed.includes(uid)));
}

/**
 * A task's connectors from a further message on (contract/v2.md 9.9). An app goes on with those alone that it was
 * granted: it must not reach by another's task what its user has kept from it.
 */
export function atSend(wanted: Pick<WantedMeans, "connectors">, clear: boolean, has: readonly string[], known: Known): readonly string[] {
  if (clear) return [];
  if (wanted.connectors.length > 0) return checkInstalled([...new Set(wanted.connectors)], known);
  return known.granted(has);
}

/** @throws Failure `invalid` with the first one that is not installed (contract/v2.md 8.7). */
function checkInstalled(uids: readonly string[], { installed }: Known): readonly string[] {
  const at = uids.findIndex((uid) => !installed.includes(uid));
  if (at >= 0) throw invalid(`message.connectors[${at}]`, `${uids[at]} is not installed`);
  return uids;
}

/**
 * The connectors that a new task begins with, and keeps; undefined is as good as none, and writes nothing. Runs in
 * the change that creates the task.
 */
export async function connectorsAtCreate(
  tx: Tx,
  caller: Caller,
  wanted: WantedMeans,
  projectId: string | null,
): Promise<readonly string[] | undefined> {
  if (wanted.connectors.length === 0 && wanted.noConnectors) return undefined;
  const uids = atCreate(wanted, await knownTo(tx, caller, projectId));
  return uids.length === 0 ? undefined : uids;
}

/**
 * The connectors of a task from a further message on; undefined: those it has stay.
 *
 * @param clear `clear_connectors` was said: none any longer.
 */
export async function connectorsAtSend(
  tx: Tx,
  caller: Caller,
  wanted: WantedMeans,
  clear: boolean,
  taskId: string,
): Promise<readonly string[] | undefined> {
  if (clear) return [];
  if (wanted.connectors.length > 0) return atSend(wanted, clear, [], await knownTo(tx, caller, null));
  if (caller.credential.kind !== "token") return undefined;
  const has = (await tx.means.find(taskId))?.connectors ?? [];
  const stay = grantedOf(caller, has);
  return stay.length === has.length ? undefined : stay;
}

async function knownTo(tx: Tx, caller: Caller, projectId: string | null): Promise<Known> {
  const all: readonly InstalledConnector[] = [...effective(await tx.connectors.list(caller)).values()];
  return {
    installed: all.map(({ uid }) => uid),
    enabled: all.filter(({ isDefault }) => isDefault).map(({ uid }) => uid),
    ofProject: projectId === null ? null : await tx.connectors.defaultsOf(projectId),
    granted: (uids) => grantedOf(caller, uids),
  };
}
