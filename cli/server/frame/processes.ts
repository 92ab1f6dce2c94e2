import type { NodeLoad } from "../../../src/core/installation/status.ts";
import type { ProcessFacts, ProcessKeys } from "../../../src/core/processes/key-rotation.ts";

/** A process of any role. Its facts are null if its release does not write them. */
export interface ProcessLoad extends ProcessFacts {
  /** The id of its runs; without runs that of its row of keys. */
  readonly id: string;
  /**
   * Its last heartbeat or renewal by its own clock, Unix milliseconds. A process without runs renews its row
   * once a minute.
   */
  readonly seenAt: number | null;
  readonly running: number;
}

const unknown: ProcessFacts = {
  role: null,
  version: null,
  host: null,
  pid: null,
  startedAt: null,
  memoryBytes: null,
};

/**
 * Joins the rows of keys, which each process has, with the nodes, which only processes that run tasks have.
 * Oldest first.
 */
export function processesOf(
  shown: readonly ProcessKeys[],
  nodes: readonly NodeLoad[],
): readonly ProcessLoad[] {
  const known = shown.filter(({ version }) => version !== null);
  const others = nodes.filter(({ processId }) => !known.some(({ id }) => id === processId));
  // Nothing joins the two rows of a process of an older release: as many rows of keys as it has nodes are
  // those of the nodes.
  const older = shown
    .filter(({ version }) => version === null)
    .slice(others.filter(({ processId }) => processId === null).length);
  return [
    ...[...known, ...older].map((row) =>
      loadOf(
        row,
        nodes.find(({ processId }) => processId === row.id),
      ),
    ),
    ...others.map(({ id, startedAt, beatAt, running }) => ({
      ...unknown,
      id,
      startedAt,
      seenAt: beatAt,
      running,
    })),
  ].toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
}

function loadOf(row: ProcessKeys, node: NodeLoad | undefined): ProcessLoad {
  const { role, version, host, pid, startedAt, memoryBytes, renewedAt } = row;
  const seenAt = Math.max(renewedAt, node?.beatAt ?? 0);
  return {
    id: node?.id ?? row.id,
    role,
    version,
    host,
    pid,
    startedAt,
    memoryBytes,
    seenAt,
    running: node?.running ?? 0,
  };
}
