import type { Hand } from "../workers/worker-rig.ts";

/** What befell the workers. */
export interface Fates {
  /** Workers that were killed in the middle of a call, before one, or after one whose answer they never saw. */
  kills: number;
  /** Calls of workers that came back late, and were refused. */
  fencedOff: number;
}

/** What a worker that may be killed at any call is made of. */
export interface Mortal {
  readonly hand: Hand;
  readonly url: string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly fates: Fates;
  /** Resolves once a run is its worker's no more. */
  readonly lost: (run: { readonly taskId: string; readonly fence: number }) => Promise<unknown>;
  readonly gone: AbortSignal;
}

/** Explanations that a worker tells in each turn: one in each call, for one credit. */
export const told = 4;

/** So often a call is the last thing that a worker does. */
const deadly = 0.08;

class Killed extends Error {}

interface Given {
  readonly taskId: string;
  readonly fence: number;
  readonly messages: readonly { readonly content: string }[];
}

/** Works until it is told to go; in place of each worker that is killed there is another one. */
export async function mortalWorker(mortal: Mortal): Promise<void> {
  const late: Promise<void>[] = [];
  while (!mortal.gone.aborted) {
    let run: Given | undefined;
    try {
      ({ run } = await call(mortal, "Poll", { waitSeconds: 2 }));
      while (run) run = await workOn(mortal, run);
    } catch (thrown) {
      if (!(thrown instanceof Killed)) throw thrown;
      mortal.fates.kills += 1;
      if (run && mortal.random() < 0.25) late.push(heard(comeBack(mortal, run)));
    }
  }
  await Promise.all(late);
}

/** Whoever waits for it hears of its failure, later. */
function heard(work: Promise<void>): Promise<void> {
  work.catch(() => undefined);
  return work;
}

/** A worker that was taken for dead goes on with what it had: it does no harm. */
async function comeBack(mortal: Mortal, { taskId, fence, messages }: Given): Promise<void> {
  await mortal.lost({ taskId, fence });
  const { hand, fates } = mortal;
  const events = [{ key: "late", explanation: { content: `${tagOf(messages)} late ${fence}` } }];
  const replies = [
    await hand.call("Append", { taskId, fence, events }),
    await hand.call("Finish", { taskId, fence, finish: { content: "Late" } }),
  ];
  fates.fencedOff += replies.filter(({ status }) => status === 400).length;
  if (replies.some(({ status }) => status === 200)) throw new Error("a worker that came back late was let in");
}

/** What a turn's events are marked by. */
const tagOf = (messages: Given["messages"]): string => messages.map(({ content }) => content).join("+");

/** The next turn, if there is one at once; undefined too where the run was lost. */
async function workOn(mortal: Mortal, { taskId, fence, messages }: Given): Promise<Given | undefined> {
  const tag = tagOf(messages);
  for (let nth = 0; nth < told; nth += 1) {
    const events = [{ key: `${nth}`, explanation: { content: `${tag} ${nth}` } }];
    const times = mortal.random() < 0.1 ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const reply = await call(mortal, "Append", { taskId, fence, events, credits: 1 });
      if (reply.code !== undefined) return undefined;
    }
  }
  const reply = await call(mortal, "Finish", { taskId, fence, finish: { content: `${tag} is done` } });
  return reply.run;
}

/** A call as a mortal makes it: its socket is destroyed when it is killed in the middle. @throws Killed */
async function call({ hand, url, random, gone }: Mortal, method: string, body: object) {
  const fate = random() < deadly ? random() : 1;
  if (fate < 0.2) throw new Killed();
  const killed = new AbortController();
  const killing = fate < 0.7 ? setTimeout(() => killed.abort(), fate * 10) : undefined;
  try {
    const reply = await fetch(`${url}/worker.v1.WorkerService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": hand.secret },
      body: JSON.stringify(body),
      signal: AbortSignal.any([killed.signal, gone]),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the worker sees it, member by member
    const answer: any = await reply.json();
    if (reply.status !== 200 && reply.status !== 400) throw new Error(`${method} answered ${reply.status}: ${JSON.stringify(answer)}`);
    if (fate < 1) throw new Killed();
    return answer;
  } catch (thrown) {
    if (killed.signal.aborted) throw new Killed();
    if (gone.aborted) return {};
    throw thrown;
  } finally {
    clearTimeout(killing);
  }
}
