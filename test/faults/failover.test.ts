import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { postgresTemplate } from "../support/database.ts";
import { depth, seed } from "../support/depth.ts";
import { lacks } from "../support/needs.ts";
import { testMs } from "../support/patience.ts";
import type { Node } from "./harness/cluster.ts";
import type { Pair, Victim } from "./harness/patroni.ts";
import { evidenceOf, reportOf } from "./harness/report.ts";
import { runFaults } from "./harness/run.ts";
import { openSetUp, withStandby } from "./harness/set-up.ts";
import { type Timeline, timeline } from "./harness/timeline.ts";

const kills = depth === "full" ? 50 : 5;
const asynchronousKills = depth === "full" ? 10 : 2;
/** A kill takes up to half a minute on a busy machine. */
const timeout = testMs + kills * 60_000;
/** Every fifth kill ends a complete machine, which is noticed later. */
const victimOf = (kill: number): Victim => (kill % 5 === 4 ? "machine" : "PostgreSQL");

const attemptMs = 2_000;
const pauseMs = 20;

interface Reply {
  readonly status: number;
  readonly taskId: string;
}

/** A call of a process; null when it was cut off. */
async function attempt(
  node: Node | undefined,
  key: string,
  name: string,
  body: object,
): Promise<Reply | null> {
  const headers = { "x-service-api-key": key, "content-type": "application/json" };
  const call = {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(attemptMs),
  };
  try {
    const reply = await fetch(`${node?.url}/v2/${name}`, call);
    const { task_id: taskId = "" } = (await reply.json()) as { readonly task_id?: string };
    return { status: reply.status, taskId };
  } catch {
    return null;
  }
}

interface Killing {
  readonly pair: Pair;
  readonly nodes: readonly Node[];
  readonly key: string;
  readonly timeline: Timeline;
}

/** Kills the primary, and returns the milliseconds until a write was acknowledged after one was refused. */
async function killPrimary({ pair, nodes, key, timeline }: Killing, victim: Victim): Promise<number> {
  await pair.untilFollowed();
  const begun = performance.now();
  await pair.kill(victim);
  timeline.note(`primary killed (${victim}): SIGKILL`);
  for (let i = 0, isRefused = false; ; i += 1) {
    const reply = await attempt(nodes[i % nodes.length], key, "project.create", { name: "after a kill" });
    if (reply?.status === 200 && isRefused) return performance.now() - begun;
    isRefused ||= reply?.status !== 200;
    await delay(pauseMs);
  }
}

/** The times to the first acknowledged write, for each kind of victim. */
function timesText(times: readonly (readonly [Victim, number])[]): string {
  const kinds = [...new Set(times.map(([victim]) => victim))];
  return kinds
    .map((kind) => {
      const sorted = times
        .flatMap(([victim, ms]) => (victim === kind ? [ms / 1000] : []))
        .toSorted((a, b) => a - b);
      const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
      return `${kind} killed ${sorted.length} times: first write after ${median.toFixed(1)} s (median), ${worst.toFixed(1)} s (worst)`;
    })
    .join("; ");
}

describe.skipIf(postgresTemplate === undefined || lacks("patroni") || depth === "short")(
  "a primary that is killed under load",
  () => {
    test("loses no acknowledged change with a synchronous standby: nothing is doubled, and every task ends", {
      timeout,
    }, async () => {
      const times: [Victim, number][] = [];
      const outcome = await runFaults({
        setUp: withStandby,
        seed: String(seed),
        report: (line) => console.info(line),
        async plan({ setUp: { pair, cluster }, timeline, apiKey: key }) {
          if (pair === undefined) throw new Error("there is no standby");
          for (let i = 0; i < kills; i += 1) {
            const victim = victimOf(i);
            times.push([victim, await killPrimary({ pair, nodes: cluster.nodes, key, timeline }, victim)]);
          }
        },
      });
      if (outcome === undefined) throw new Error("there is no PostgreSQL");
      console.info(`${reportOf({ ...outcome, logged: new Map() })}\n${timesText(times)}\n`);
      expect(evidenceOf(outcome)).toBe("");
      expect(times).toHaveLength(kills);
      expect(outcome.tally.get("tasks"), "the load continued").toBeGreaterThan(10 * kills);
      expect(outcome.starts, "no process of the platform was restarted").toHaveLength(3);
    });

    test("without a synchronous standby may lose acknowledged changes; their number is reported", async () => {
      const story = timeline((line) => console.info(line));
      await using setUp = await openSetUp(withStandby, story);
      const { pair, cluster } = setUp ?? {};
      if (pair === undefined || cluster === undefined) throw new Error("there is no standby");
      await pair.setSynchronous(false);
      const { key, nodes } = cluster;
      const acknowledged: string[] = [];
      let over = false;
      const write = async (i: number) => {
        while (!over) {
          const reply = await attempt(nodes[i % nodes.length], key, "task.create", {
            message: { content: "[[say Done]]" },
          });
          if (reply?.status === 200) acknowledged.push(reply.taskId);
          else await delay(pauseMs);
        }
      };
      const writers = Promise.all(Array.from({ length: 8 }, (_, i) => write(i)));
      const times: [Victim, number][] = [];
      for (let i = 0; i < asynchronousKills; i += 1)
        times.push(["PostgreSQL", await killPrimary({ pair, nodes, key, timeline: story }, "PostgreSQL")]);
      over = true;
      await writers;
      await pair.untilFollowed();
      let lost = 0;
      for (const task_id of acknowledged) {
        let reply = await attempt(nodes[0], key, "task.detail", { task_id });
        while (reply === null) reply = await attempt(nodes[0], key, "task.detail", { task_id });
        expect([200, 404]).toContain(reply.status);
        if (reply.status === 404) lost += 1;
      }
      console.info(
        `asynchronous: ${lost} of ${acknowledged.length} acknowledged tasks were lost. ${timesText(times)}\n`,
      );
      expect(acknowledged.length).toBeGreaterThan(asynchronousKills);
    });
  },
);
