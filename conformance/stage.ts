import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../src/core/json.ts";
import { eventId, type TaskEvent } from "../src/core/tasks/event.ts";
import type { Task, TaskStatus } from "../src/core/tasks/task.ts";
import { workerLeaseMs, workerNode } from "../src/core/workers/worker-run.ts";
import { leapingClock } from "./clock.ts";
import { Flaw } from "./flaw.ts";
import { profile, type ScratchPlatform, scratchPlatform } from "./platform.ts";
import { startWorker, type WorkerProcess } from "./process.ts";
import { type FaultyProxy, openProxy } from "./proxy.ts";
import { expectTranscript, transcriptOf } from "./transcript.ts";

/** How the worker is started, and for how long it is waited for. */
export interface StageOptions {
  readonly command: string;
  /** How long anything may take that has nothing to wait for, in seconds. */
  readonly patience: number;
}

/** One check's own platform, the proxy before it, and the worker's processes. */
export interface Stage extends AsyncDisposable {
  readonly platform: ScratchPlatform;
  readonly proxy: FaultyProxy;
  readonly patience: number;
  /** When processes of the worker ended, by the machine's monotonic clock. */
  readonly deaths: readonly number[];
  /** Starts the worker: when a check begins, and where one is to take another's place. */
  start(): WorkerProcess;
  /** Makes a task that says this; answers its id. */
  create(text: string): Promise<string>;
  send(taskId: string, text: string): Promise<void>;
  task(taskId: string): Promise<Task>;
  events(taskId: string): Promise<readonly TaskEvent[]>;
  /** Waits until the task has this status. @throws Flaw */
  reach(taskId: string, status: TaskStatus, seconds?: number): Promise<void>;
  /** Waits until the agent has said this. @throws Flaw */
  said(taskId: string, line: string): Promise<void>;
  /** Looks until there is something. @param what the sentence for when there is not. @throws Flaw */
  until<T>(what: () => string, look: () => T | Promise<T>, seconds?: number): Promise<NonNullable<T>>;
  /** Waits for the task's end, and compares what happened in it. @throws Flaw */
  ends(taskId: string, expected: readonly string[], status?: TaskStatus): Promise<void>;
  /** Waits until a process that was told to end has ended. @throws Flaw */
  gone(worker: WorkerProcess): Promise<void>;
  /** Lets the leases of those be over that say nothing; what they have sent has come in before. */
  lapse(): Promise<void>;
  /** Gives the run to another worker at once. */
  takeAway(taskId: string): Promise<void>;
}

const lookEveryMs = 50;
/** Calls of a process that is gone or stands still have arrived by then. */
const onItsWayMs = 300;

export async function openStage({ command, patience }: StageOptions): Promise<Stage> {
  const clock = leapingClock();
  let platform: ScratchPlatform | undefined;
  const proxy = await openProxy(() => platform?.port ?? null);
  const made = await scratchPlatform(clock, proxy.url);
  platform = made;
  const { store } = made;
  const workers: WorkerProcess[] = [];
  const deaths: number[] = [];

  async function task(taskId: string): Promise<Task> {
    const found = await store.tasks.byId(taskId);
    if (!found) throw new Error(`there is no task ${taskId}`);
    return found;
  }
  const events = (taskId: string) => store.events.list(taskId, { order: "asc", limit: 1000, verbose: true });
  const transcript = async (taskId: string) => transcriptOf(await events(taskId));

  const until: Stage["until"] = async (what, look, seconds = patience) => {
    const late = performance.now() + seconds * 1000;
    for (;;) {
      const found = await look();
      if (found) return found;
      const fallen = workers.at(-1);
      if (fallen?.ended) throw new Flaw(`${what()} The worker ${fallen.ended}.${outputOf(fallen)}`);
      if (performance.now() > late) throw new Flaw(`${what()}${fallen ? outputOf(fallen) : ""}`);
      await delay(lookEveryMs);
    }
  };
  async function reach(taskId: string, status: TaskStatus, seconds = patience): Promise<void> {
    let last = await task(taskId);
    const wanted = `The task was expected to be \`${status}\` within ${seconds} s`;
    await until(
      () => `${wanted}, and is \`${last.status}\`.`,
      async () => {
        last = await task(taskId);
        // Any other end is one: the worker will not come to what was expected.
        if (last.status !== status && last.status !== "running")
          throw new Flaw(`${wanted}, and is \`${last.status}\`: ${(await transcript(taskId)).join(", ")}`);
        return last.status === status;
      },
      seconds,
    );
  }

  return {
    ...{ platform: made, proxy, patience, deaths, task, events, until, reach },
    start() {
      const worker = startWorker(command, { BASE_URL: proxy.url, WORKER_KEY: made.workerKey, PROFILES: profile });
      workers.push(worker);
      void worker.over.then(() => deaths.push(performance.now()));
      return worker;
    },
    async create(content) {
      const { task_id: id } = await made.user("task.create", { message: { content }, interactive_mode: true, agent_profile: profile });
      return String(id);
    },
    async send(task_id, content) {
      await made.user("task.sendMessage", { task_id, message: { content } });
    },
    async said(taskId, line) {
      let last: readonly string[] = [];
      await until(
        () => `${JSON.stringify(line)} was expected within ${patience} s; came: ${last.join(", ")}.`,
        async () => {
          last = await transcript(taskId);
          return last.includes(line);
        },
      );
    },
    async ends(taskId, expected, status = "stopped") {
      await reach(taskId, status);
      expectTranscript(expected, await transcript(taskId));
    },
    async gone(worker) {
      const late = delay(patience * 1000, "late", { ref: false });
      if ((await Promise.race([worker.over, late])) === "late")
        throw new Flaw(`The worker was sent a signal to end, and ${patience} s later it still runs.${outputOf(worker)}`);
    },
    async lapse() {
      await delay(onItsWayMs);
      clock.leap(workerLeaseMs);
    },
    takeAway: (taskId) =>
      store.change(async (tx) => {
        const now = clock.now();
        const given = await tx.tasks.advance(taskId, { now, set: { nodeId: workerNode(made.otherWorkerId), raiseFence: true } });
        if (!given) throw new Error(`there is no task ${taskId}`);
        const run = { taskId, spaceId: given.spaceId, workerId: made.otherWorkerId, fence: given.fence };
        await tx.workerRuns.put([{ ...run, startedAt: now, leaseUntil: now + 10 * workerLeaseMs }]);
      }),
    async [Symbol.asyncDispose]() {
      for (const worker of workers) worker.kill();
      await proxy[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

const outputOf = ({ output }: WorkerProcess): string =>
  output.length === 0 ? "" : `\n  it wrote:\n${output.map((line) => `    ${line}`).join("\n")}`;

/** The user's decision on what the task waits for. @throws Flaw when that is anything but an approval of this kind. */
export async function decide({ platform, events }: Stage, task_id: string, kind: string, input: JsonObject): Promise<void> {
  const waits = (await events(task_id)).findLast((event) => event.type === "status_update");
  const wantedKind = waits?.payload.statusDetail?.waitingForEventType;
  if (waits === undefined || wantedKind !== kind) throw new Flaw(`The task was expected to wait for ${kind}, and waits for ${wantedKind}.`);
  await platform.user("task.confirmAction", { task_id, event_id: eventId(task_id, waits.seq - 1), input });
}
