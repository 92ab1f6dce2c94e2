import { singleFlight } from "../async/coalesce.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { Store, Tx } from "../core/store.ts";

/** The interval between heartbeats of a process. */
export const heartbeatMs = 5_000;
/** A peer whose heartbeat has not changed for this time is dead. */
export const deadAfterMs = 15_000;
/** A process without a successful heartbeat for this time abandons its runs before it continues. */
export const abandonAfterMs = 10_000;

/**
 * This process's lease on its runs. Heartbeats decide which processes are live: each process raises its own
 * counter, and measures how long the other counters stay unchanged by its monotonic clock. So clocks need not
 * agree.
 */
export interface Lease {
  /** The id of the process's row. A new row replaces it after peers considered the process dead. */
  nodeId(): string;
  /** Writes the address of this process's pages to its row, and to rows that replace it. */
  announce(address: string): Promise<void>;
  /**
   * Raises the heartbeat. False when peers considered the process dead: its runs are lost, and it continues
   * with a new row.
   */
  beat(): Promise<boolean>;
  /**
   * Makes a change during which no peer removes the process's row, so that only a live process writes in this
   * process's name. Returns null and changes nothing when the row is gone, as `beat` does.
   */
  changeIfLive<T>(work: (tx: Tx, nodeId: string) => Promise<T>): Promise<T | null>;
  /**
   * Whether this process is the next one for work that these numbers of wake-ups announce. Without numbers
   * every process is.
   */
  isInTurn(turns: readonly number[]): boolean;
  /** True when the last heartbeat is so old that runs must be abandoned. */
  hasLapsed(): boolean;
  /** The ids of peers whose runs may be taken over. */
  findDeadPeers(): Promise<readonly string[]>;
  /** Deletes the row of a dead peer, or this process's row at its end, unless the row still owns tasks. */
  removeNode(nodeId: string): Promise<void>;
}

/** Throws when this process must not run tasks. */
export type StartCheck = (tx: Tx) => Promise<void>;

/**
 * @param alone true when no other process can be live: this process holds `lock.db`.
 * @param check runs in the change that inserts the first row. When it throws, no row is inserted.
 * @param processId the id of the process's row of keys.
 */
export async function openLease(
  store: Store,
  clock: Clock,
  ids: Ids,
  alone: boolean,
  check?: StartCheck,
  processId?: string,
): Promise<Lease> {
  let lastHeartbeat = clock.monotonic();
  let address: string | null = null;
  let id = await register(check);
  const silence = silenceMeter(clock);
  /** The ids of the processes that run tasks, in an order that all of them share. */
  let live = [id];

  async function register(admit?: StartCheck): Promise<string> {
    const node = { id: ids.short(), beat: 0, startedAt: clock.now(), address };
    await store.change(async (tx) => {
      await admit?.(tx);
      await tx.nodes.insert(node, processId);
    });
    return node.id;
  }

  /** Inserts one new row, also when several calls find at the same time that the row is gone. */
  const renew = singleFlight(async () => {
    id = await register();
  });

  /** Runs both in one change. @param check whether the row is there. */
  async function ifLive<T>(
    check: (tx: Tx, nodeId: string) => Promise<boolean>,
    work: (tx: Tx, nodeId: string) => Promise<T>,
  ): Promise<T | null> {
    const startedAt = clock.monotonic();
    const nodeId = id;
    const done = await store.change(async (tx) =>
      (await check(tx, nodeId)) ? { result: await work(tx, nodeId) } : null,
    );
    if (done !== null) return done.result;
    if (id === nodeId) await renew();
    lastHeartbeat = Math.max(lastHeartbeat, startedAt);
    return null;
  }

  return {
    nodeId: () => id,
    async announce(announced) {
      address = announced;
      await store.change((tx) => tx.nodes.setAddress(id, announced));
    },
    async beat() {
      const startedAt = clock.monotonic();
      const isLive = await ifLive(
        (tx, nodeId) => tx.nodes.raiseHeartbeat(nodeId, clock.now()),
        async () => true,
      );
      lastHeartbeat = Math.max(lastHeartbeat, startedAt);
      return isLive ?? false;
    },
    changeIfLive: (work) => ifLive((tx, nodeId) => tx.nodes.hold(nodeId), work),
    isInTurn: (turns) => turns.length === 0 || turns.some((turn) => live[turn % live.length] === id),
    hasLapsed: () => clock.monotonic() - lastHeartbeat > abandonAfterMs,
    async findDeadPeers() {
      const askedAt = clock.monotonic();
      const peers = (await store.nodes.list()).filter((node) => node.id !== id);
      const silentMs = silence(peers, askedAt);
      live = [
        ...peers.filter((peer) => silentMs(peer) < abandonAfterMs).map((peer) => peer.id),
        id,
      ].toSorted();
      return peers.filter((peer) => alone || silentMs(peer) >= deadAfterMs).map((peer) => peer.id);
    },
    async removeNode(nodeId) {
      await store.change(async (tx) => {
        // This locks the row: a concurrent claim in its name either committed before, and is seen, or finds
        // no row.
        await tx.nodes.lock(nodeId);
        if ((await tx.tasks.listOwned([nodeId])).length > 0) return;
        await tx.browsers.deleteOfNode(nodeId);
        await tx.nodes.remove(nodeId);
      });
    },
  };
}

interface Heartbeat {
  readonly id: string;
  readonly beat: number;
}

/** Measures how long each peer's heartbeat has been unchanged. */
function silenceMeter(
  clock: Clock,
): (peers: readonly Heartbeat[], askedAt: number) => (peer: Heartbeat) => number {
  let seen = new Map<string, { beat: number; at: number }>();
  let last = Number.NEGATIVE_INFINITY;
  return (peers, askedAt) => {
    // Time without a look does not count: a process that stalled, or lost the database, starts to measure
    // again.
    const before = askedAt - last > heartbeatMs ? new Map<string, never>() : seen;
    last = clock.monotonic();
    seen = new Map(
      peers.map(({ id, beat }) => {
        const known = before.get(id);
        return [id, known?.beat === beat ? known : { beat, at: last }];
      }),
    );
    const now = seen;
    return ({ id }) => askedAt - (now.get(id)?.at ?? askedAt);
  };
}
