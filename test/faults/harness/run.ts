import { callerOf, type Tally } from "./caller.ts";
import { heal } from "./faults.ts";
import { startLoad } from "./load.ts";
import { newModel } from "./model.ts";
import type { Plan } from "./plans.ts";
import { prove } from "./proof.ts";
import { seededRandom } from "./seeded-random.ts";
import { openSetUp, type SetUp } from "./set-up.ts";
import { type Timeline, timeline } from "./timeline.ts";
import type { Violation } from "./violation.ts";

export interface RunOptions {
  readonly setUp: SetUp["name"];
  readonly plan: Plan;
  readonly seed: string;
  /** Aborted to start no more rounds: the work so far is checked. */
  readonly enough?: AbortSignal;
  /** Called with each fault as it is made. */
  readonly report?: (line: string) => void;
}

/** The result of a run. */
export interface Outcome {
  readonly setUp: SetUp["name"];
  readonly seed: string;
  readonly seconds: number;
  readonly timeline: Timeline;
  readonly tally: Tally;
  /** Milliseconds, of every start that became ready. */
  readonly starts: readonly number[];
  /** How often the servers logged each error. */
  readonly logged: Tally;
  /** Faults that could not be made here. */
  readonly skipped: readonly string[];
  readonly violations: readonly Violation[];
}

/** Concurrent users of the service. */
const users = 16;
/** Calls are held for at most 2 s. */
const attemptMs = 4_000;

const never = new AbortController().signal;

/**
 * Runs the service under a load and a plan of faults, and checks the final state. Undefined without the
 * database.
 */
export async function runFaults({
  setUp: name,
  plan,
  seed,
  enough = never,
  report: tell,
}: RunOptions): Promise<Outcome | undefined> {
  const story = timeline(tell);
  await using setUp = await openSetUp(name, story);
  if (setUp === undefined) return undefined;
  const random = seededRandom(`${seed}/${name}`);
  const tally: Tally = new Map();
  const violations: Violation[] = [];
  const model = newModel();
  const { cluster } = setUp;
  const caller = callerOf({
    nodes: cluster.nodes,
    key: cluster.key,
    dice: random.fork("calls"),
    tally,
    attemptMs,
  });
  const load = startLoad({ caller, dice: random.fork("load"), model, violations, users });
  await plan({
    setUp,
    timeline: story,
    dice: random.fork("faults"),
    model,
    tally,
    apiKey: cluster.key,
    enough,
  }).catch((thrown: unknown) => {
    throw new Error(["a fault could not be made; the servers logged:", ...lastErrorsOf(setUp)].join("\n"), {
      cause: thrown,
    });
  });
  await heal(setUp, story);
  await Promise.all(cluster.nodes.map((node) => node.untilReady()));
  story.note("calm: no fault any more");
  await load.end();
  story.note("proof: begun");
  violations.push(...(await prove(caller, model)));
  violations.push(...collapsesOf(setUp), ...faultsOf(setUp), ...(await drained(setUp)));
  return {
    ...{ setUp: name, seed, seconds: story.seconds(), timeline: story, tally, violations },
    starts: cluster.nodes.flatMap(({ starts }) => starts),
    logged: loggedErrors(setUp),
    skipped:
      setUp.database && !setUp.database.disk
        ? ["disk full: no permission to mount a small file system here"]
        : [],
  };
}

/** The last errors of each server: an answer of 500 does not have its cause. */
const lastErrorsOf = ({ cluster }: SetUp): readonly string[] =>
  cluster.nodes.flatMap(({ name, log }) => {
    const errors = log()
      .split("\n")
      .filter((line) => line.includes('"level":50'));
    return errors.slice(-5).map((line) => `${name}: ${line}`);
  });

/** No fault of another process may end a server. */
const collapsesOf = ({ cluster }: SetUp): readonly Violation[] =>
  cluster.nodes.flatMap(({ name, collapses }) =>
    collapses.map((said) => ({ what: `${name} ended by itself`, task: said.split("\n") })),
  );

/** A fault is answered by 503 or by no answer: a logged failed call is an additional fault. */
const faultsOf = ({ cluster }: SetUp): readonly Violation[] =>
  cluster.nodes.flatMap(({ name, log }) =>
    log()
      .split("\n")
      .filter((line) => line.includes('"msg":"a call failed'))
      .map((line) => ({ what: `${name} failed a call by itself`, task: [line] })),
  );

/** After all faults, a server still drains. */
async function drained({ cluster }: SetUp): Promise<readonly Violation[]> {
  const codes = await cluster.drain();
  return codes.every((code) => code === 0)
    ? []
    : [{ what: `asked to end, the servers ended with ${codes.join(", ")}` }];
}

/** How often each error was logged, without its cause. */
function loggedErrors({ cluster }: SetUp): Tally {
  const tally: Tally = new Map();
  for (const line of cluster.nodes.flatMap((node) => node.log().split("\n"))) {
    const [, message] = /^\{"level":(?:50|60|"error"|"fatal").*"msg":"([^":(]*[^":( ])/.exec(line) ?? [];
    const said = message ?? (/"msg":"(runs are given up)"/.exec(line) ?? [])[1];
    if (said !== undefined) tally.set(said, (tally.get(said) ?? 0) + 1);
  }
  return tally;
}
