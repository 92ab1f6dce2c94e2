import { fuzzClient, type Outcome, type Patience } from "./client.ts";
import { suspects } from "./costly-requests.ts";
import { judge } from "./oracle/judge.ts";
import { meterOf } from "./oracle/meter.ts";
import { startPlatform } from "./platform/platform.ts";
import type { FuzzRequest } from "./request.ts";
import { requestsFrom } from "./requests/requests.ts";
import { type Tally, tally } from "./tally.ts";

export interface RunOptions {
  readonly seed: number;
  /** The number of the first request. */
  readonly first?: number;
  readonly runs: number;
  readonly patience?: Patience;
  /** Reports progress every few seconds. */
  readonly onProgress?: (tally: Tally) => void;
}

/** The result of a run. */
export interface Report {
  readonly tally: Tally;
  /** Faults of the process, not of one answer. */
  readonly faults: readonly string[];
}

const patience: Patience = { answerMs: 75_000, silenceMs: 15_000, streamMs: 25 };
const progressMs = 5_000;
/** Requests at a time; below WATCH_LIMIT, so that no held call may be refused for a missing slot. */
const lanes = 48;

/** Sends `runs` requests to a separate platform and judges every answer. */
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
      watched.begin(nth, request);
      const outcome = await client.send(request);
      watched.end(nth, outcome);
      if ("answer" in outcome) platform.known.learn(textOf(outcome));
      count.count(nth, request, outcome, faultsOf(request, outcome));
    }
  }

  try {
    await Promise.all(Array.from({ length: lanes }, lane));
    if (platform.isAlive())
      for (const { nth, request, outcome, flaws } of await watched.alone(client.send))
        count.complain(nth, request, outcome, flaws);
    client.close();
    return { tally: count, faults: await platform.end() };
  } finally {
    clearInterval(progress);
    client.close();
  }
}

function faultsOf(request: FuzzRequest, outcome: Outcome): readonly string[] {
  if ("unanswered" in outcome) return [`no answer: ${outcome.unanswered}`];
  if ("answer" in outcome) return judge(request, outcome.answer);
  // Every stream sends something at once, unless the request continues after an unknown seq.
  return request.kind === "hostile payload" ? [] : ["a stream that says nothing"];
}

/** Long answers are lists; their beginning is enough. */
const learnMax = 4_096;
const textOf = ({ answer }: { readonly answer: { readonly body: Buffer } }): string =>
  answer.body.toString("latin1", 0, learnMax);
