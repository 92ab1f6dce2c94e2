import { setTimeout as delay } from "node:timers/promises";
import type { Node } from "./cluster.ts";
import { type Arena, cutConnections, fillDisk, freeze, pause, restartDatabase, stepClocks, storm } from "./faults.ts";
import type { SetUpName } from "./set-up.ts";

/** Which faults there are, and when. */
export type Plan = (arena: Arena) => Promise<void>;

/** A process is taken for dead after 15 s of silence, and its peers look every second or two. */
const beyondTakeOver = 19;
/** As long as the longest pauses are. */
const standsStill = 20;
/** The only process of a set-up gives its runs up when it stood still for 10 s. */
const beyondGivingUp = 11;

/** Each fault once, in half a minute. */
export const shortPlans: Readonly<Record<SetUpName, Plan>> = {
  async sqlite(arena) {
    const [only] = nodesOf(arena);
    await Promise.all([storm(arena, [only], 6, [200, 900]), stepClocks(arena, [only], 2)]);
    await fillDisk(arena, 2);
    await pause(arena, only, 3);
    await delay(1_000);
    await freeze(arena, only, beyondGivingUp);
  },

  async postgresql(arena) {
    const [first, second, third] = nodesOf(arena);
    await storm(arena, [first, second, third], 4, [100, 500]);
    await cutConnections(arena);
    await fillDisk(arena, 2);
    await restartDatabase(arena);
    await Promise.all([pause(arena, first, beyondTakeOver), freeze(arena, second, beyondTakeOver), stepClocks(arena, [third], 2)]);
  },
};

/** Kills between two of the other faults. */
const round = 20;
/** What was cut short gets on for so long: a task that is begun 25 times without any progress is given up, as it should be. */
const calmMs = 3_500;

/** So many kills, about one a second, and the other faults in turn among them. */
export const longPlans: Readonly<Record<SetUpName, (kills: number) => Plan>> = {
  sqlite: (kills) => async (arena) => {
    const [only] = nodesOf(arena);
    const others: readonly Plan[] = [
      (there) => stepClocks(there, [only], 5),
      (there) => fillDisk(there, 3).then(() => undefined),
      (there) => pause(there, only, standsStill),
      (there) => stepClocks(there, [only], 5),
      (there) => fillDisk(there, 3).then(() => undefined),
      (there) => freeze(there, only, standsStill),
    ];
    await inRounds(kills, async (i, count) => {
      const other = others[i % others.length];
      await storm(arena, [only], count, [50, 600]);
      await other?.(arena);
    });
  },

  /** In each round one process is spared, so that there is somebody to take over, and one has the other fault. */
  postgresql: (kills) => async (arena) => {
    const nodes = nodesOf(arena);
    await inRounds(kills, async (i, count) => {
      const turned = nodes.map((_, at) => nodes[(i + at) % nodes.length] as Node); // The index is within.
      const [spared, subject, ...rest] = turned;
      const others: readonly Plan[] = [
        () => restartDatabase(arena),
        (there) => pause(there, subject as Node, standsStill),
        () => cutConnections(arena),
        (there) => fillDisk(there, 3).then(() => undefined),
        (there) => freeze(there, subject as Node, standsStill),
        (there) => stepClocks(there, nodes, 5),
      ];
      const which = i % others.length;
      const targets = which === 1 || which === 4 ? rest : turned.filter((node) => node !== spared);
      await Promise.all([storm(arena, targets, count, [400, 1200]), delay(2_000).then(() => others[which]?.(arena))]);
    });
  },
};

async function inRounds(kills: number, work: (round: number, kills: number) => Promise<void>): Promise<void> {
  for (let i = 0; i * round < kills; i += 1) {
    await work(i, Math.min(round, kills - i * round));
    await delay(calmMs);
  }
}

/** As many as the set-up has; a plan names those it knows to be there. */
const nodesOf = ({ setUp }: Arena): readonly [Node, Node, Node] => setUp.cluster.nodes as unknown as readonly [Node, Node, Node];
