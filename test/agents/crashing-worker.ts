import type { TestWorker } from "../workers/worker-rig.ts";

/** How often the workers failed. */
export interface FailureCounts {
  /** Workers that were killed during a call, before one, or after one whose answer they did not read. */
  kills: number;
  /** Late calls of workers, which were refused. */
  fencedOff: number;
}

/** The parts of a worker that may be killed at any call. */
export interface CrashingWorker {
  readonly client: TestWorker;
  readonly url: string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly counts: FailureCounts;
  /** Resolves once the worker no longer holds the run. */
  readonly whenLost: (run: { readonly taskId: string; readonly fence: number }) => Promise<unknown>;
  readonly stopped: AbortSignal;
}

/** Explanations that a worker sends in each turn: one per call, for one credit. */
export const explanationsPerTurn = 4;

/** The probability that the worker is killed at a call. */
const killProbability = 0.08;

class Killed extends Error {}

interface AssignedRun {
  readonly taskId: string;
  readonly fence: number;
  readonly messages: readonly { readonly content: string }[];
}

/** Works until it is stopped; a new worker replaces each one that is killed. */
export async function runCrashingWorker(worker: CrashingWorker): Promise<void> {
  const late: Promise<void>[] = [];
  while (!worker.stopped.aborted) {
    let run: AssignedRun | undefined;
    try {
      ({ run } = await call(worker, "Poll", { waitSeconds: 2 }));
      while (run) run = await workOn(worker, run);
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown;
      worker.counts.kills += 1;
      if (run && worker.random() < 0.25) late.push(handleErrors(continueLate(worker, run)));
    }
  }
  await Promise.all(late);
}

/** Attaches an error handler early; the caller still sees the error later. */
function handleErrors(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

/** A worker that was taken for dead continues with its old run, without effect. */
async function continueLate(worker: CrashingWorker, { taskId, fence, messages }: AssignedRun): Promise<void> {
  await worker.whenLost({ taskId, fence });
  const { client, counts: fates } = worker;
  const events = [{ key: "late", explanation: { content: `${tagOf(messages)} late ${fence}` } }];
  const replies = [
    await client.call("Append", { taskId, fence, events }),
    await client.call("Finish", { taskId, fence, finish: { content: "Late" } }),
  ];
  fates.fencedOff += replies.filter(({ status }) => status === 400).length;
  if (replies.some(({ status }) => status === 200)) throw new Error("a worker with a lost run was admitted");
}

/** The text that marks a turn's events. */
const tagOf = (messages: AssignedRun["messages"]): string => messages.map(({ content }) => content).join("+");

/** The next turn, if there is one immediately; undefined too where the run was lost. */
async function workOn(
  worker: CrashingWorker,
  { taskId, fence, messages }: AssignedRun,
): Promise<AssignedRun | undefined> {
  const tag = tagOf(messages);
  for (let nth = 0; nth < explanationsPerTurn; nth += 1) {
    const events = [{ key: `${nth}`, explanation: { content: `${tag} ${nth}` } }];
    const times = worker.random() < 0.1 ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const reply = await call(worker, "Append", { taskId, fence, events, credits: 1 });
      if (reply.code !== undefined) return undefined;
    }
  }
  const reply = await call(worker, "Finish", { taskId, fence, finish: { content: `${tag} is done` } });
  return reply.run;
}

/** Makes one call; when the worker is killed during it, the socket is destroyed. @throws Killed */
async function call({ client, url, random, stopped: gone }: CrashingWorker, method: string, body: object) {
  const draw = random() < killProbability ? random() : 1;
  if (draw < 0.2) throw new Killed();
  const killed = new AbortController();
  const killing = draw < 0.7 ? setTimeout(() => killed.abort(), draw * 10) : undefined;
  try {
    const reply = await fetch(`${url}/worker.v1.WorkerService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": client.secret },
      body: JSON.stringify(body),
      signal: AbortSignal.any([killed.signal, gone]),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the answer is read member by member, as a worker reads it
    const answer: any = await reply.json();
    if (reply.status !== 200 && reply.status !== 400)
      throw new Error(`${method} answered ${reply.status}: ${JSON.stringify(answer)}`);
    if (draw < 1) throw new Killed();
    return answer;
  } catch (thrown) {
    if (killed.signal.aborted) throw new Killed();
    if (gone.aborted) return {};
    throw thrown;
  } finally {
    clearTimeout(killing);
  }
}
