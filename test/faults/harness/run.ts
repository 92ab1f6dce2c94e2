import { callerOf, type Tally } from "./caller.ts";
import { diceOf } from "./dice.ts";
import { heal } from "./faults.ts";
import { startLoad } from "./load.ts";
import { newModel } from "./model.ts";
import type { Plan } from "./plans.ts";
import { prove } from "./proof.ts";
import { openSetUp, type SetUp, type SetUpName } from "./set-up.ts";
import { type Timeline, timeline } from "./timeline.ts";
import type { Violation } from "./violation.ts";

export interface RunOptions {
  readonly setUp: SetUpName;
  readonly plan: Plan;
  readonly seed: string;
  /** Aborted when no more rounds are wanted: what was done so far is proven. */
  readonly enough?: AbortSignal;
  /** Told of each fault as it is made. */
  readonly tell?: (line: string) => void;
}

/** What came of a run. */
export interface Outcome {
  readonly setUp: SetUpName;
  readonly seed: string;
  readonly seconds: number;
  readonly timeline: Timeline;
  readonly tally: Tally;
  /** Milliseconds, of every start that came to serve. */
  readonly starts: readonly number[];
  /** How often the servers logged each error. */
  readonly logged: Tally;
  /** Faults that could not be made here. */
  readonly skipped: readonly string[];
  readonly violations: readonly Violation[];
}

/** Users of the service at any time. */
const users = 16;
/** Calls are held for 2 s at most. */
const attemptMs = 4_000;

const never = new AbortController().signal;

/** Runs the service under a load and a plan of faults, and proves what is left. Undefined where the database is not installed. */
export async function runFaults({ setUp: name, plan, seed, enough = never, tell }: RunOptions): Promise<Outcome | undefined> {
  const story = timeline(tell);
  await using setUp = await openSetUp(name, story);
  if (setUp === undefined) return undefined;
  const dice = diceOf(`${seed}/${name}`);
  const tally: Tally = new Map();
  const violations: Violation[] = [];
  const model = newModel();
  const { cluster } = setUp;
  const caller = callerOf({ nodes: cluster.nodes, key: cluster.key, dice: dice.fork("calls"), tally, attemptMs });
  const load = startLoad({ caller, dice: dice.fork("load"), model, violations, users });
  await plan({ setUp, timeline: story, dice: dice.fork("faults"), model, tally, apiKey: cluster.key, enough });
  await heal(setUp, story);
  await Promise.all(cluster.nodes.map((node) => node.up()));
  story.note("calm: no fault any more");
  await load.end();
  story.note("proof: begun");
  violations.push(...(await prove(caller, model)));
  violations.push(...collapsesOf(setUp), ...faultsOf(setUp), ...(await drained(setUp)));
  return {
    ...{ setUp: name, seed, seconds: story.seconds(), timeline: story, tally, violations },
    starts: cluster.nodes.flatMap(({ starts }) => starts),
    logged: loggedErrors(setUp),
    skipped: setUp.database && !setUp.database.disk ? ["disk full: nobody may mount a small file system here"] : [],
  };
}

/** No fault of another process ends a server. */
const collapsesOf = ({ cluster }: SetUp): readonly Violation[] =>
  cluster.nodes.flatMap(({ name, collapses }) => collapses.map((said) => ({ what: `${name} ended by itself`, task: said.split("\n") })));

/** A fault is answered by 503 or not at all: what a server calls a failed call is a fault of its own. */
const faultsOf = ({ cluster }: SetUp): readonly Violation[] =>
  cluster.nodes.flatMap(({ name, log }) =>
    log()
      .split("\n")
      .filter((line) => line.includes('"msg":"a call failed'))
      .map((line) => ({ what: `${name} failed a call by itself`, task: [line] })),
  );

/** After all that, a server still ends in good order. */
async function drained({ cluster }: SetUp): Promise<readonly Violation[]> {
  const codes = await cluster.drain();
  return codes.every((code) => code === 0) ? [] : [{ what: `asked to end, the servers ended with ${codes.join(", ")}` }];
}

function loggedErrors({ cluster }: SetUp): Tally {
  const tally: Tally = new Map();
  for (const line of cluster.nodes.flatMap((node) => node.log().split("\n"))) {
    const [, message] = /^\{"level":(?:50|60|"error"|"fatal").*"msg":"([^"]*)"/.exec(line) ?? [];
    const said = message ?? (/"msg":"(runs are given up)"/.exec(line) ?? [])[1];
    if (said !== undefined) tally.set(said, (tally.get(said) ?? 0) + 1);
  }
  return tally;
}
