import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../src/core/json.ts";
import { eventId, type TaskEvent } from "../src/core/tasks/event.ts";
import type { Task, TaskStatus } from "../src/core/tasks/task.ts";
import { workerLeaseMs, workerNode } from "../src/core/workers/worker-run.ts";
import { movableClock } from "./clock.ts";
import { profile, type ScratchPlatform, scratchPlatform } from "./platform.ts";
import { startWorker, type WorkerProcess } from "./process.ts";
import { type FaultyProxy, openProxy } from "./proxy.ts";
import { expectTranscript, transcriptOf } from "./transcript.ts";
import { WorkerError } from "./worker-error.ts";

/** The worker's command, and the timeout. */
export interface StageOptions {
  readonly command: string;
  /** The longest time in seconds for a response that the worker can send immediately. */
  readonly patience: number;
}

/** One check's platform, the proxy in front of it, and the worker's processes. */
export interface Stage extends AsyncDisposable {
  readonly platform: ScratchPlatform;
  readonly proxy: FaultyProxy;
  readonly patience: number;
  /** When processes of the worker ended, by the machine's monotonic clock. */
  readonly deaths: readonly number[];
  /** When processes of the worker were suspended. */
  readonly suspensions: readonly number[];
  /** Starts a process of the worker: the first one, or a replacement. */
  start(): WorkerProcess;
  /** Suspends a process of the worker until its lease ends. */
  suspend(worker: WorkerProcess): void;
  /** Creates a task with this message; returns its ID. */
  create(text: string): Promise<string>;
  send(taskId: string, text: string): Promise<void>;
  task(taskId: string): Promise<Task>;
  events(taskId: string): Promise<readonly TaskEvent[]>;
  /** Waits until the task has this status. @throws WorkerError */
  waitForStatus(taskId: string, status: TaskStatus, seconds?: number): Promise<void>;
  /** Waits until the transcript has this line. @throws WorkerError */
  waitForLine(taskId: string, line: string): Promise<void>;
  /**
   * Repeats `look` until it returns a value. @param what returns the error text for a timeout. @throws
   * WorkerError
   */
  waitUntil<T>(what: () => string, look: () => T | Promise<T>, seconds?: number): Promise<NonNullable<T>>;
  /** Waits for the task's end and compares its transcript. @throws WorkerError */
  expectEnd(taskId: string, expected: readonly string[], status?: TaskStatus): Promise<void>;
  /** Waits until a process that was sent a signal has ended. @throws WorkerError */
  waitForExit(worker: WorkerProcess, seconds?: number): Promise<void>;
  /** Lets the leases of silent processes end, after their sent calls have arrived. */
  expireLeases(): Promise<void>;
  /** Assigns the run to another worker immediately. */
  reassign(taskId: string): Promise<void>;
}

const lookEveryMs = 50;
/** In this time, the calls of an ended or suspended process have arrived. */
const arrivalMs = 300;

export async function openStage({ command, patience }: StageOptions): Promise<Stage> {
  const clock = movableClock();
  let platform: ScratchPlatform | undefined;
  const proxy = await openProxy(() => platform?.port ?? null);
  const scratch = await scratchPlatform(clock, proxy.url);
  platform = scratch;
  const { store } = scratch;
  const workers: WorkerProcess[] = [];
  const deaths: number[] = [];
  const suspensions: number[] = [];

  async function task(taskId: string): Promise<Task> {
    const row = await store.tasks.byId(taskId);
    if (!row) throw new Error(`there is no task ${taskId}`);
    return row;
  }
  const events = (taskId: string) => store.events.list(taskId, { order: "asc", limit: 1000, verbose: true });
  const transcript = async (taskId: string) => transcriptOf(await events(taskId));

  const until: Stage["waitUntil"] = async (what, look, seconds = patience) => {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const found = await look();
      if (found) return found;
      const lastWorker = workers.at(-1);
      if (lastWorker?.ended)
        throw new WorkerError(`${what()} The worker ${lastWorker.ended}.${outputOf(lastWorker)}`);
      if (performance.now() > deadline)
        throw new WorkerError(`${what()}${lastWorker ? outputOf(lastWorker) : ""}`);
      await delay(lookEveryMs);
    }
  };
  async function reach(taskId: string, status: TaskStatus, seconds = patience): Promise<void> {
    let last = await task(taskId);
    const expectation = `The task must be \`${status}\` within ${seconds} s`;
    await until(
      () => `${expectation}, but is \`${last.status}\`.`,
      async () => {
        last = await task(taskId);
        // Another final status is final: the task cannot reach the expected status.
        if (last.status !== status && last.status !== "running")
          throw new WorkerError(
            `${expectation}, but is \`${last.status}\`: ${(await transcript(taskId)).join(", ")}`,
          );
        return last.status === status;
      },
      seconds,
    );
  }

  return {
    platform: scratch,
    proxy,
    patience,
    deaths,
    suspensions,
    task,
    events,
    waitUntil: until,
    waitForStatus: reach,
    start() {
      const worker = startWorker(command, {
        ATP_URL: proxy.url,
        BASE_URL: proxy.url,
        WORKER_KEY: scratch.workerKey,
        PROFILES: profile,
      });
      workers.push(worker);
      void worker.exited.then(() => deaths.push(performance.now()));
      return worker;
    },
    suspend(worker) {
      suspensions.push(performance.now());
      worker.suspend();
    },
    async create(content) {
      const { task_id: id } = await scratch.user("task.create", {
        message: { content },
        interactive_mode: true,
        agent_profile: profile,
      });
      return String(id);
    },
    async send(task_id, content) {
      await scratch.user("task.sendMessage", { task_id, message: { content } });
    },
    async waitForLine(taskId, line) {
      let last: readonly string[] = [];
      await until(
        () =>
          `${JSON.stringify(line)} was expected within ${patience} s; the events are: ${last.join(", ")}.`,
        async () => {
          last = await transcript(taskId);
          return last.includes(line);
        },
      );
    },
    async expectEnd(taskId, expected, status = "stopped") {
      await reach(taskId, status);
      expectTranscript(expected, await transcript(taskId));
    },
    async waitForExit(worker, seconds = patience) {
      const deadline = delay(seconds * 1000, "late", { ref: false });
      if ((await Promise.race([worker.exited, deadline])) === "late")
        throw new WorkerError(
          `The worker was sent a signal to exit, and ${seconds} s later it still runs.${outputOf(worker)}`,
        );
    },
    async expireLeases() {
      await delay(arrivalMs);
      clock.advance(workerLeaseMs);
    },
    reassign: (taskId) =>
      store.change(async (tx) => {
        const now = clock.now();
        const written = await tx.tasks.advance(taskId, {
          now,
          set: { nodeId: workerNode(scratch.otherWorkerId), raiseFence: true },
        });
        if (!written) throw new Error(`there is no task ${taskId}`);
        const run = {
          taskId,
          spaceId: written.task.spaceId,
          workerId: scratch.otherWorkerId,
          fence: written.task.fence,
        };
        await tx.workerRuns.put([{ ...run, startedAt: now, leaseUntil: now + 10 * workerLeaseMs }]);
      }),
    async [Symbol.asyncDispose]() {
      for (const worker of workers) worker.kill();
      await proxy[Symbol.asyncDispose]();
      await scratch[Symbol.asyncDispose]();
    },
  };
}

const outputOf = ({ output }: WorkerProcess): string =>
  output.length === 0 ? "" : `\n  its output:\n${output.map((line) => `    ${line}`).join("\n")}`;

/**
 * Sends the user's decision on a pending approval. @throws WorkerError if the task does not wait for an
 * approval of this kind.
 */
export async function decideApproval(
  { platform, events }: Stage,
  task_id: string,
  kind: string,
  input: JsonObject,
): Promise<void> {
  const waiting = (await events(task_id)).findLast((event) => event.type === "status_update");
  const waitingKind = waiting?.payload.statusDetail?.waitingForEventType;
  if (waiting === undefined || waitingKind !== kind)
    throw new WorkerError(`The task must wait for ${kind}, but waits for ${waitingKind}.`);
  await platform.user("task.confirmAction", { task_id, event_id: eventId(task_id, waiting.seq - 1), input });
}
