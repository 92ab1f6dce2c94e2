import { setTimeout as delay } from "node:timers/promises";
import type { Node } from "./cluster.ts";
import {
  type Arena,
  cutConnections,
  fillDisk,
  freeze,
  pause,
  restartDatabase,
  stepClocks,
  storm,
} from "./faults.ts";
import type { SetUpName } from "./set-up.ts";

/** The faults and their times. */
export type Plan = (arena: Arena) => Promise<void>;

/** A process counts as dead after 15 s of silence, and its peers check every second or two. */
const beyondTakeOver = 19;
/** As long as the longest pauses. */
const standsStill = 20;
/** The only process of a set-up releases its runs after a suspension of 10 s. */
const beyondGivingUp = 11;

/** Each fault at least once, in less than a minute. */
export const shortPlans: Readonly<Record<SetUpName, Plan>> = {
  async sqlite(arena) {
    const only = nodeOf(arena, 0);
    await Promise.all([storm(arena, [only], 6, [200, 900]), stepClocks(arena, [only], 2)]);
    await fillDisk(arena, 2);
    await pause(arena, only, 3);
    await delay(1_000);
    await freeze(arena, only, beyondGivingUp);
  },

  async postgresql(arena) {
    const [first, second, third] = [nodeOf(arena, 0), nodeOf(arena, 1), nodeOf(arena, 2)];
    await storm(arena, [first, second, third], 4, [100, 500]);
    await cutConnections(arena);
    await fillDisk(arena, 2);
    await restartDatabase(arena);
    await Promise.all([
      pause(arena, first, beyondTakeOver),
      freeze(arena, second, beyondTakeOver),
      stepClocks(arena, [third], 2),
    ]);
  },
};

/** Kills between two of the other faults. */
const round = 20;
/**
 * Interrupted tasks make progress for this time: a task that was started 25 times without any progress fails,
 * by design.
 */
const calmMs = 4_000;
/** Time from the start of a storm. */
const aWhileMs = 2_000;

/** This many kills, about one a second, and the other faults alternating between them. */
export const longPlans: Readonly<Record<SetUpName, (kills: number) => Plan>> = {
  sqlite: (kills) => async (arena) => {
    const only = nodeOf(arena, 0);
    const others: readonly Plan[] = [
      () => stepClocks(arena, [only], 3),
      () => fillDisk(arena, 3),
      () => pause(arena, only, standsStill),
      () => stepClocks(arena, [only], 3),
      () => fillDisk(arena, 3),
      () => freeze(arena, only, standsStill),
    ];
    await inRounds(arena, kills, async (i, count) => {
      await storm(arena, [only], count, [50, 450]);
      await others[i % others.length]?.(arena);
    });
  },

  /** In each round one process is spared, so that it can take over; a suspended process is not killed. */
  postgresql: (kills) => async (arena) => {
    const { nodes } = arena.setUp.cluster;
    await inRounds(arena, kills, async (i, count) => {
      const [spared, subject] = [nodeOf(arena, i % nodes.length), nodeOf(arena, (i + 1) % nodes.length)];
      const others: readonly Plan[] = [
        restartDatabase,
        () => pause(arena, subject, standsStill),
        cutConnections,
        () => fillDisk(arena, 3),
        () => freeze(arena, subject, standsStill),
        () => stepClocks(arena, nodes, 5),
      ];
      const which = i % others.length;
      const stands = which === 1 || which === 4;
      const targets = nodes.filter((node) => node !== spared && !(stands && node === subject));
      await Promise.all([
        storm(arena, targets, count, [400, 1200]),
        delay(aWhileMs).then(() => others[which]?.(arena)),
      ]);
    });
  },
};

/**
 * The calm begins when all processes serve: on a slow machine a storm is longer, and no task may be starved.
 */
async function inRounds(
  arena: Arena,
  kills: number,
  work: (round: number, kills: number) => Promise<void>,
): Promise<void> {
  for (let i = 0; i * round < kills && !arena.enough.aborted; i += 1) {
    await work(i, Math.min(round, kills - i * round));
    await Promise.all(arena.setUp.cluster.nodes.map((node) => node.untilReady()));
    await delay(calmMs);
  }
}

/** @throws Error when the set-up has fewer. */
function nodeOf({ setUp }: Arena, i: number): Node {
  const node = setUp.cluster.nodes[i];
  if (!node) throw new Error(`there is no node ${i + 1}`);
  return node;
}
