import type { Caller } from "../accounts/caller.ts";
import { invalidArgument } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { RequestedResources } from "../tasks/task-resources.ts";
import { effectiveByUid, type InstalledConnector } from "./connector.ts";
import { filterGranted, isLimitedInConnectors } from "./granted.ts";

export interface ResolvableConnectors {
  readonly installed: readonly string[];
  /** Enabled by default for the caller. */
  readonly enabled: readonly string[];
  /** The project's defaults; null without a project. */
  readonly ofProject: readonly string[] | null;
  /** Returns the ids that the caller may use. */
  readonly filterGranted: (uids: readonly string[]) => readonly string[];
}

/**
 * A new task's connectors (spec/api.md 9.9). Defaults that are not installed or not granted are dropped
 * silently.
 */
export function resolveAtCreate(
  requested: Pick<RequestedResources, "connectors" | "noConnectors">,
  known: ResolvableConnectors,
): readonly string[] {
  if (requested.connectors.length > 0) return checkInstalled([...new Set(requested.connectors)], known);
  if (requested.noConnectors) return [];
  const defaults = known.ofProject ?? known.enabled;
  return known.filterGranted(defaults.filter((uid) => known.installed.includes(uid)));
}

/**
 * A task's connectors from a further message on (spec/api.md 9.9). An app continues with only those granted
 * to it: through a task of another app it must not use connectors that its user has not granted to it.
 */
export function resolveAtSend(
  requested: Pick<RequestedResources, "connectors">,
  clear: boolean,
  current: readonly string[],
  known: ResolvableConnectors,
): readonly string[] {
  if (clear) return [];
  if (requested.connectors.length > 0) return checkInstalled([...new Set(requested.connectors)], known);
  return known.filterGranted(current);
}

/** @throws Failure `invalid_argument` with the first one that is not installed (spec/api.md 8.7). */
function checkInstalled(uids: readonly string[], { installed }: ResolvableConnectors): readonly string[] {
  const at = uids.findIndex((uid) => !installed.includes(uid));
  if (at >= 0) throw invalidArgument(`message.connectors[${at}]`, `${uids[at]} is not installed`);
  return uids;
}

/**
 * The connectors to store for a new task. Undefined means none, and nothing is written. Runs in the change
 * that creates the task.
 */
export async function connectorsAtCreate(
  tx: Tx,
  caller: Caller,
  requested: RequestedResources,
  projectId: string | null,
): Promise<readonly string[] | undefined> {
  if (requested.connectors.length === 0 && requested.noConnectors) return undefined;
  const uids = resolveAtCreate(requested, await readKnown(tx, caller, projectId));
  return uids.length === 0 ? undefined : uids;
}

/**
 * The connectors of a task from a further message on; undefined: they do not change.
 *
 * @param clear the request has `clear_connectors`: the task has none from now on.
 */
export async function connectorsAtSend(
  tx: Tx,
  caller: Caller,
  requested: RequestedResources,
  clear: boolean,
  taskId: string,
): Promise<readonly string[] | undefined> {
  if (clear) return [];
  if (requested.connectors.length > 0)
    return resolveAtSend(requested, clear, [], await readKnown(tx, caller, null));
  if (!isLimitedInConnectors(caller)) return undefined;
  const current = (await tx.taskResources.find(taskId))?.connectors ?? [];
  const keptUids = filterGranted(caller, current);
  return keptUids.length === current.length ? undefined : keptUids;
}

async function readKnown(tx: Tx, caller: Caller, projectId: string | null): Promise<ResolvableConnectors> {
  const all: readonly InstalledConnector[] = [...effectiveByUid(await tx.connectors.list(caller)).values()];
  return {
    installed: all.map(({ uid }) => uid),
    enabled: all.filter(({ isDefault }) => isDefault).map(({ uid }) => uid),
    ofProject: projectId === null ? null : await tx.connectors.defaultsOf(projectId),
    filterGranted: (uids) => filterGranted(caller, uids),
  };
}
