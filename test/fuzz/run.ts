import { fuzzClient, type Outcome, type Patience } from "./client.ts";
import { judge } from "./oracle/judge.ts";
import { meterOf } from "./oracle/meter.ts";
import { startPlatform } from "./platform/platform.ts";
import type { FuzzRequest } from "./request.ts";
import { requestsFrom } from "./requests/requests.ts";
import { suspects } from "./suspects.ts";
import { type Tally, tally } from "./tally.ts";

export interface RunOptions {
  readonly seed: number;
  /** The number of the first request. */
  readonly first?: number;
  readonly runs: number;
  readonly patience?: Patience;
  /** Hears of the run every few seconds. */
  readonly onProgress?: (tally: Tally) => void;
}

/** What a run came to. */
export interface Report {
  readonly tally: Tally;
  /** What is wrong with the process rather than with one answer. */
  readonly faults: readonly string[];
}

const patience: Patience = { answerMs: 75_000, silenceMs: 15_000, streamMs: 25 };
const progressMs = 5_000;
/** Requests at a time; below WATCH_LIMIT, so that no held call may be refused for want of a place. */
const lanes = 48;

/** Sends `runs` requests to a platform of its own and judges every answer. */
export async function fuzz({ seed, first = 0, runs, onProgress, ...options }: RunOptions): Promise<Report> {
  await using platform = await startPlatform();
  const client = fuzzClient(platform.url, options.patience ?? patience);
  const nthRequest = requestsFrom(platform);
  const count = tally();
  const watched = suspects(meterOf(platform.pid));
  const progress = setInterval(() => onProgress?.(count), progressMs);
  let next = first;

  async function lane(): Promise<void> {
    while (next < first + runs && platform.isAlive()) {
      const nth = next++;
      const request = nthRequest(seed, nth);
      watched.begun(nth, request);
      const outcome = await client.send(request);
      watched.over(nth, outcome);
      if ("answer" in outcome) platform.known.learn(textOf(outcome));
      count.count(nth, request, outcome, flawsOf(request, outcome));
    }
  }

  try {
    await Promise.all(Array.from({ length: lanes }, lane));
    if (platform.isAlive())
      for (const { nth, request, outcome, flaws } of await watched.alone(client.send)) count.complain(nth, request, outcome, flaws);
    client.close();
    return { tally: count, faults: await platform.end() };
  } finally {
    clearInterval(progress);
    client.close();
  }
}

function flawsOf(request: FuzzRequest, outcome: Outcome): readonly string[] {
  if ("unanswered" in outcome) return [`no answer: ${outcome.unanswered}`];
  if ("answer" in outcome) return judge(request, outcome.answer);
  // Every stream has something to tell at once, unless it was asked for what comes after some seq that nobody knows.
  return request.kind === "hostile payload" ? [] : ["a stream that says nothing"];
}

/** Long answers are lists, of which the beginning is enough. */
const learnMax = 4_096;
const textOf = ({ answer }: { readonly answer: { readonly body: Buffer } }): string => answer.body.toString("latin1", 0, learnMax);
