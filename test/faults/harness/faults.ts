import { setTimeout as delay } from "node:timers/promises";
import type { Tally } from "./caller.ts";
import type { Node } from "./cluster.ts";
import { createExtraTasks, createHeavy } from "./extra-tasks.ts";
import type { Model } from "./model.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SetUp } from "./set-up.ts";
import type { Timeline } from "./timeline.ts";

/** The target of faults. */
export interface Arena {
  readonly setUp: SetUp;
  readonly timeline: Timeline;
  readonly dice: SeededRandom;
  /** The changes that the service has acknowledged so far; extra tasks are added to it. */
  readonly model: Model;
  readonly tally: Tally;
  readonly apiKey: string;
  /** Aborted to start no more rounds. */
  readonly enough: AbortSignal;
}

const hourMs = 3_600_000;

/** Kills a process in any state: mostly serving ones, sometimes starting ones. */
export async function storm(
  { timeline, dice }: Arena,
  targets: readonly Node[],
  kills: number,
  gapMs: readonly [number, number],
): Promise<void> {
  for (let killed = 0; killed < kills; ) {
    const node = dice.pick(targets);
    if (dice.chance(0.85)) await node.untilReady();
    await delay(dice.between(...gapMs));
    if (!node.signal("SIGKILL")) continue;
    killed += 1;
    timeline.note(`kill -9: ${node.name}`);
  }
}

/**
 * Peers take the tasks of a process over after this time of silence, and within this time more on a slow
 * machine.
 */
const takeOverSeconds = 15;
const slowTakeOverMs = 30_000;

/**
 * Suspends a process and resumes it, as the scheduler of a virtual machine may: on a slow machine after its
 * peers have continued a task.
 */
export async function pause(arena: Arena, node: Node, seconds: number): Promise<void> {
  const { timeline } = arena;
  await node.untilReady();
  const tasks = await createExtraTasks(arena);
  timeline.note(`paused (SIGSTOP): ${node.name} for ${seconds} s`);
  node.signal("SIGSTOP");
  await delay(seconds * 1000);
  if (seconds > takeOverSeconds && arena.setUp.cluster.nodes.length > 1)
    await tasks.untilTakenOver(slowTakeOverMs);
  tasks.woke();
  node.signal("SIGCONT");
}

/** Blocks a process's event loop: its connections stay open, its timers do not fire. */
export async function freeze(arena: Arena, node: Node, seconds: number): Promise<void> {
  const { timeline } = arena;
  node.writeFile("freeze-ms", `${seconds * 1000}`);
  await node.untilReady();
  const tasks = await createExtraTasks(arena);
  timeline.note(`event loop blocked: ${node.name} for ${seconds} s`);
  node.signal("SIGUSR2");
  await delay(seconds * 1000);
  tasks.woke();
}

/** Steps the clocks of some processes an hour forwards, two back, and then resets them. */
export async function stepClocks(
  { timeline }: Arena,
  nodes: readonly Node[],
  seconds: number,
): Promise<void> {
  for (const hours of [1, -1, 0]) {
    timeline.note(`clock stepped: ${nodes.map(({ name }) => name).join(", ")} to ${hours} h off`);
    for (const node of nodes) node.writeFile("clock-offset-ms", `${hours * hourMs}`);
    if (hours !== 0) await delay(seconds * 1000);
  }
}

/** Time after which a process has noticed that its disk is full. */
const noticedMs = 100;
/** Time after which a call has been refused. */
const refusedMs = 15_000;

/** Fills the disk for a while; does nothing where that is not possible. */
export async function fillDisk(arena: Arena, seconds: number): Promise<void> {
  const { setUp, timeline } = arena;
  const { database, cluster } = setUp;
  if (database && !database.disk) return;
  await Promise.all(cluster.nodes.map((node) => node.untilReady()));
  timeline.note(`disk full: for ${seconds} s`);
  if (database) database.disk?.fill();
  else for (const node of cluster.nodes) node.writeFile("disk-full", "");
  await delay(noticedMs);
  const acknowledged = createHeavy(arena);
  await Promise.all([delay(seconds * 1000), refused(arena)]);
  await heal(setUp, timeline);
  await acknowledged;
}

/** Resolves once a call was refused for lack of the database; on a slow machine this takes longer. */
async function refused({ tally }: Arena): Promise<void> {
  const refusals = () => tally.get("answers 503") ?? 0;
  const before = refusals();
  for (let waited = 0; refusals() === before && waited < refusedMs; waited += noticedMs)
    await delay(noticedMs);
}

/** Cuts every connection to PostgreSQL. */
export async function cutConnections({ setUp, timeline }: Arena): Promise<void> {
  await Promise.all(setUp.cluster.nodes.map((node) => node.untilReady()));
  const cut = await setUp.database?.cut();
  timeline.note(`connections cut (pg_terminate_backend): ${cut} of them`);
}

/** Restarts PostgreSQL, with a clean shutdown or a crash. */
export async function restartDatabase({ setUp, timeline, dice }: Arena): Promise<void> {
  const how = dice.pick(["fast", "immediate"] as const);
  const downMs = dice.between(0, 1500);
  timeline.note(`PostgreSQL restarted: ${how}, down for ${(downMs / 1000).toFixed(1)} s`);
  await setUp.database?.restart(how, downMs);
}

/** Ends every lasting fault: frees the disk, resets the clocks, restarts the database. */
export async function heal({ database, cluster }: SetUp, timeline: Timeline): Promise<void> {
  database?.disk?.free();
  if (database && !database.isRunning()) {
    timeline.note("PostgreSQL started: it had ended by itself");
    await database.restart("fast", 0);
  }
  for (const node of cluster.nodes) node.writeFile("disk-full", null);
}
