import type { Call, RunName } from "./call.ts";

/** The longest silence of a worker in a run: a third of the lease of 15 s, plus time for a busy machine. */
const silenceMs = 9_000;
/**
 * Calls in progress when the worker learns of the end may still arrive in this time: they are refused without
 * effect.
 */
const graceMs = 2_000;
/** The shortest pause before a retry while the platform is unavailable or refuses the credential. */
const pauseMs = 100;
/**
 * How many calls of a check may come after a shorter pause: several polls of one worker may fail together.
 */
const hastyRetriesMax = 20;

const writingMethods = ["Append", "WriteText", "Finish", "Upload"];

/**
 * Checks the rules that apply to all runs. Returns one sentence per violation.
 *
 * @param losses when processes of the worker ended or were suspended: they no longer own earlier runs.
 * @param over when the check ended.
 */
export function findViolations(
  calls: readonly Call[],
  losses: readonly number[],
  over: number,
): readonly string[] {
  const runs = new Map(calls.flatMap(({ assigned }) => assigned.map((run) => [runKey(run), run] as const)));
  return [
    ...refusedCalls(calls),
    ...[...runs.values()].flatMap((run) => [
      ...lateWrites(calls, run),
      ...silences(calls, run, [...losses, over]),
    ]),
    ...retryBursts(calls),
  ];
}

/** When the worker learned that it lost a run; Infinity if it did not. */
export function lossNoticedAt(calls: readonly Call[], run: RunName): number {
  const notices = calls.filter(
    (call) => isCallOf(call, run) && (call.stop !== "" || call.code === "failed_precondition"),
  );
  return Math.min(...notices.map(({ answeredAt }) => answeredAt ?? Infinity));
}

/** Every refusal except for a lost run or a revoked credential is an error of the worker. */
function refusedCalls(calls: readonly Call[]): readonly string[] {
  const refused = calls.filter(
    ({ status, code }) => status >= 400 && status < 500 && status !== 401 && code !== "failed_precondition",
  );
  return [
    ...new Set(
      refused.map(({ method, code, status, message }) => {
        const hint =
          code === "already_exists"
            ? " A key in a turn belongs to one event, and a fence to one ending: repeat requests unchanged."
            : "";
        return `${method} was refused with ${code || status}: ${message}.${hint}`;
      }),
    ),
  ];
}

function lateWrites(calls: readonly Call[], run: RunName): readonly string[] {
  const noticedAt = lossNoticedAt(calls, run);
  const late = calls.filter(
    (call) =>
      isCallOf(call, run) && writingMethods.includes(call.method) && call.startedAt > noticedAt + graceMs,
  );
  const [first] = late;
  if (first === undefined) return [];
  return [
    `The worker learned that its run (fence ${run.fence}) is over, and ${seconds(first.startedAt - noticedAt)} later it still called ${first.method}, ` +
      `${late.length} times in total. Drop a run if a call is refused with failed_precondition or a Heartbeat returns \`stop\`.`,
  ];
}

/** Silences from the assignment of a run until its Finish, its Release or its loss. */
function silences(calls: readonly Call[], run: RunName, ends: readonly number[]): readonly string[] {
  const assignment = calls.find(({ assigned }) =>
    assigned.some(({ taskId, fence }) => taskId === run.taskId && fence === run.fence),
  );
  const from = assignment?.answeredAt ?? null;
  if (from === null) return [];
  const runCalls = calls.filter((call) => isCallOf(call, run));
  const ended =
    runCalls.find(({ method, status }) => ["Finish", "Release"].includes(method) && status === 200)
      ?.startedAt ?? Infinity;
  const until = Math.min(ended, lossNoticedAt(calls, run), ...ends.filter((at) => at > from));
  const times = [from, ...runCalls.map(({ startedAt }) => startedAt).filter((at) => at < until), until];
  const longest = Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at)));
  if (longest <= silenceMs) return [];
  if (runCalls.length === 0 && assignment?.method === "Finish")
    return [
      `Finish returned the next turn (fence ${run.fence}), and the worker ignored it: no call used it within ${seconds(longest)}. ` +
        "A new message has arrived: continue with the run in Finish's response, as with a run from Poll.",
    ];
  return [
    `The worker made no call in its run for ${seconds(longest)}. The lease is 15 s: send a Heartbeat every 5 s while there is nothing to append.`,
  ];
}

/** Counts pauses, not calls per second: a busy machine makes calls slow, but not the worker's pauses long. */
function retryBursts(calls: readonly Call[]): readonly string[] {
  if (!retriesTooOften(calls)) return [];
  return [
    `While its calls failed, the worker retried ${hastyRetries(calls)} times within ${pauseMs} ms. Wait about a second before retrying, and exit if the credential is refused.`,
  ];
}

function hastyRetries(calls: readonly Call[]): number {
  const failed = calls.filter(
    ({ isPlatformAway, status }) => isPlatformAway || status === 401 || status >= 500,
  );
  const sorted = failed.toSorted((a, b) => a.startedAt - b.startedAt);
  return sorted.filter((call, i) => {
    const previous = sorted[i - 1];
    return previous !== undefined && call.startedAt - (previous.answeredAt ?? previous.startedAt) < pauseMs;
  }).length;
}

/** Whether the worker repeats its calls without a pause. */
export const retriesTooOften = (calls: readonly Call[]): boolean => hastyRetries(calls) > hastyRetriesMax;

const isCallOf = ({ run }: Call, { taskId, fence }: RunName): boolean =>
  run?.taskId === taskId && run.fence === fence;
const runKey = ({ taskId, fence }: RunName): string => `${taskId} ${fence}`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
