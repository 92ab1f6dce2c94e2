import { setTimeout as delay } from "node:timers/promises";
import { fetch } from "undici";
import { expect } from "vitest";
import { refusals, type Watcher, watch } from "../faults/harness/watch-record.ts";
import { hangMs } from "../support/patience.ts";

/**
 * Users of an installation whose processes are replaced. A call that is not answered by 200 has failed: none
 * is repeated.
 */
export interface Load {
  readonly stats: { calls: number; readonly failed: string[] };
  /** Resolves after this many more calls. */
  more(count: number): Promise<void>;
  /**
   * Ends the load: every task has ended, and each watcher has seen each of its events once. Returns the
   * counts.
   */
  prove(): Promise<Readonly<Record<"calls" | "tasks" | "reconnections", number>>>;
}

const users = 4;
/** Tasks of a user that are watched at a time, some after their end. */
const watchedMax = 4;
/** Longer than a wait of a call, and than a drain. */
const attemptMs = 60_000;

/**
 * The events of a task that talks, works for a moment and ends: some are written by another process than the
 * first.
 */
const content = "[[say one]] [[sleep 0.4]] [[say two]] [[sleep 0.4]] [[say three]]";

// The fetch of undici: that of the tests compares each answer with the documents of this release only.
/** @param address the address for the next call: of a proxy, or of a process that serves */
export function startLoad(address: () => string, key: string): Load {
  const headers = { "x-service-api-key": key, "content-type": "application/json" };
  const stats: Load["stats"] = { calls: 0, failed: [] };
  const tally = new Map<string, number>();
  let proved = 0;
  const watching = { headers, tally, readyUrl: address };
  let isOver = false;

  async function call(name: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    stats.calls += 1;
    const url = address();
    try {
      const options = {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(attemptMs),
      };
      const reply = await fetch(`${url}/v2/${name}`, options);
      const text = await reply.text();
      if (reply.status === 200) return JSON.parse(text) as Readonly<Record<string, unknown>>;
      stats.failed.push(`${name} at ${url}: ${reply.status} ${text.slice(0, 300)}`);
    } catch (thrown) {
      stats.failed.push(
        `${name} at ${url}: ${thrown instanceof Error ? `${thrown.message} (${String(thrown.cause)})` : thrown}`,
      );
    }
    return {};
  }

  async function use(): Promise<void> {
    const own: (readonly [id: string, watcher: Watcher])[] = [];
    while (!isOver) {
      const { task_id: id } = await call("task.create", { message: { content } });
      if (typeof id !== "string") continue;
      own.push([id, watch(watching, id, false)]);
      await call("task.detail", { task_id: id, wait_seconds: 1 });
      await call("task.list", {});
      if (own.length > watchedMax) await proveNext(own);
      await delay(200);
    }
    while (own.length > 0) await proveNext(own);
  }

  async function proveNext(own: (readonly [id: string, watcher: Watcher])[]): Promise<void> {
    const [id, watcher] = own.shift() ?? [];
    if (id === undefined || watcher === undefined) return;
    await proveTask(id, watcher);
    proved += 1;
  }

  async function proveTask(id: string, { record, until, close }: Watcher): Promise<void> {
    const detail = () =>
      call("task.detail", { task_id: id, wait_seconds: 5 }) as Promise<{
        task?: { status: string };
        last_seq?: number;
      }>;
    const begun = performance.now();
    let last = await detail();
    while (last.task?.status !== "stopped" && performance.now() - begun < hangMs) last = await detail();
    expect(last.task?.status, id).toBe("stopped");
    await until(last.last_seq ?? 0);
    close();
    const said = record.events.flatMap((text) => JSON.parse(text).assistant_message?.content ?? []);
    const spoken = said.filter((text) => text !== "Done.");
    expect([record.violations, spoken], id).toEqual([[], ["one", "two", "three"]]);
  }

  const done = Promise.all(Array.from({ length: users }, use));
  // `prove` reports it.
  done.catch(() => undefined);
  return {
    stats,
    async more(count) {
      const enough = stats.calls + count;
      while (stats.calls < enough) await delay(20);
    },
    async prove() {
      isOver = true;
      await done;
      for (const [what, times] of tally) if (what.startsWith(refusals)) stats.failed.push(`${times} ${what}`);
      return { calls: stats.calls, tasks: proved, reconnections: tally.get("watchers' reconnections") ?? 0 };
    },
  };
}
