import type { Call, RunName } from "./call.ts";

/** How long a worker may be silent in a run: a third of the lease of 15 s, and what a busy machine may take. */
const silenceMs = 9_000;
/** What is under way beside the call that hears of the end may go on for a moment: it is refused, and does no harm. */
const graceMs = 2_000;
/** So many calls in a second are no polite way to wait for a platform that is away, or refuses the credential. */
const hammerMax = 20;

const writing = ["Append", "Finish", "Upload"];

/**
 * What holds whatever a worker is asked: sentences for what it broke.
 *
 * @param deaths when processes of the worker ended: the runs before are theirs no more.
 * @param over when the check was over.
 */
export function brokenLaws(calls: readonly Call[], deaths: readonly number[], over: number): readonly string[] {
  const runs = new Map(calls.flatMap(({ handed }) => (handed ? [[nameOf(handed), handed] as const] : [])));
  return [
    ...refusals(calls),
    ...[...runs.values()].flatMap((run) => [...lateWrites(calls, run), ...silences(calls, run, [...deaths, over])]),
    ...hammering(calls),
  ];
}

/** When the worker was told that a run is not its any more; Infinity where it never was. */
export function toldLostAt(calls: readonly Call[], run: RunName): number {
  const told = calls.filter((call) => isOf(call, run) && (call.stop !== "" || call.code === "failed_precondition"));
  return Math.min(...told.map(({ answeredAt }) => answeredAt ?? Infinity));
}

/** Anything but the loss of a run is the worker's own mistake. */
function refusals(calls: readonly Call[]): readonly string[] {
  const refused = calls.filter(({ status, code }) => status >= 400 && status < 500 && status !== 401 && code !== "failed_precondition");
  return [
    ...new Set(
      refused.map(({ method, code, status, message }) => {
        const hint =
          code === "already_exists" ? " A key within a turn belongs to one event, a fence to one ending: repeat them unchanged." : "";
        return `${method} was refused with ${code || status}: ${message}.${hint}`;
      }),
    ),
  ];
}

function lateWrites(calls: readonly Call[], run: RunName): readonly string[] {
  const toldAt = toldLostAt(calls, run);
  const late = calls.filter((call) => isOf(call, run) && writing.includes(call.method) && call.startedAt > toldAt + graceMs);
  const [first] = late;
  if (first === undefined) return [];
  return [
    `The worker was told that its run (fence ${run.fence}) is over, and ${seconds(first.startedAt - toldAt)} later it still called ${first.method}, ` +
      `${late.length} times in all. Drop a run once a call is refused with failed_precondition, or a Heartbeat answers \`stop\`.`,
  ];
}

/** From when it was handed out until its Finish, its Release or its loss. */
function silences(calls: readonly Call[], run: RunName, ends: readonly number[]): readonly string[] {
  const handed = calls.find((call) => call.handed?.taskId === run.taskId && call.handed.fence === run.fence);
  const from = handed?.answeredAt ?? null;
  if (from === null) return [];
  const own = calls.filter((call) => isOf(call, run));
  const ended = own.find(({ method, status }) => ["Finish", "Release"].includes(method) && status === 200)?.startedAt ?? Infinity;
  const until = Math.min(ended, toldLostAt(calls, run), ...ends.filter((at) => at > from));
  const times = [from, ...own.map(({ startedAt }) => startedAt).filter((at) => at < until), until];
  const longest = Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at)));
  if (longest <= silenceMs) return [];
  if (own.length === 0 && handed?.method === "Finish")
    return [
      `Finish was answered with the next turn (fence ${run.fence}), and the worker let it lie: no call named it within ${seconds(longest)}. ` +
        "The user has said something meanwhile: go on with the run in Finish's answer, as with one of Poll's.",
    ];
  return [
    `The worker said nothing in its run for ${seconds(longest)}. The lease is 15 s: send a Heartbeat every 5 s while there is nothing to append.`,
  ];
}

function hammering(calls: readonly Call[]): readonly string[] {
  const starts = calls.filter(({ away, status }) => away || status === 401 || status >= 500).map(({ startedAt }) => startedAt);
  const most = Math.max(0, ...starts.map((at) => starts.filter((other) => other >= at && other < at + 1000).length));
  if (most <= hammerMax) return [];
  return [
    `While nothing came of it the worker called ${most} times in a second. Wait about a second before a call is sent again, and end when the credential is refused.`,
  ];
}

const isOf = ({ run }: Call, { taskId, fence }: RunName): boolean => run?.taskId === taskId && run.fence === fence;
const nameOf = ({ taskId, fence }: RunName): string => `${taskId} ${fence}`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
