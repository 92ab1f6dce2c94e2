/** The checked part of an event, from a store or from an answer. */
export interface CheckedEvent {
  readonly seq: number;
  readonly type: string;
  /** Unix ms. */
  readonly timestamp: number;
  /** For a status_update. */
  readonly status?: string | undefined;
  readonly brief?: string | undefined;
  /** For a message. */
  readonly text?: string | undefined;
}

/** A task with all its events, oldest first. */
export interface CheckedTask {
  readonly id: string;
  readonly status: string;
  readonly events: readonly CheckedEvent[];
}

/** Events that an ended task may still get; all others are the runner's. */
const notByRunner: readonly string[] = ["user_message", "user_stop", "status_update"];

/** Violations of the rules that hold for every task at every moment; empty for a correct task. */
export function violationsOfTask({ status, events }: CheckedTask): readonly string[] {
  const violations: string[] = [];
  const rule = (text: string, breaks: readonly unknown[]) => {
    if (breaks.length > 0) violations.push(`${text}: ${JSON.stringify(breaks)}`);
  };
  rule(
    "numbers run from 1, without gap or double",
    events.filter(({ seq }, i) => seq !== i + 1),
  );
  rule(
    "times increase strictly",
    events.filter(({ timestamp }, i) => i > 0 && timestamp <= (events[i - 1]?.timestamp ?? 0)),
  );
  const statuses = events
    .filter(({ type, status, brief }) => type === "status_update" && !isOfWait(status, brief))
    .map(({ status }) => status);
  rule(
    `one end per turn, in ${statuses.join(" ")}`,
    statuses.filter((word, i) => !follows(word, statuses[i - 1])),
  );
  const newest = events.findLast(({ type }) => type === "status_update")?.status;
  rule("the status is the newest status_update", newest === status ? [] : [status, newest]);
  rule("no runner writes after the end", afterTheEnd(events));
  return violations;
}

/** A wait for subtasks, or its end: the task keeps running. */
const isOfWait = (status: string | undefined, brief: string | undefined): boolean =>
  status === "running" &&
  /^(Waits for a|Waits for one of|Waits for \d|Continues(:| with your message:| after the time)) ?/.test(
    brief ?? "",
  );

/** A task runs, rests, and runs again; only a waiting task may also be stopped directly. */
const follows = (word: string | undefined, before: string | undefined): boolean =>
  word === "running"
    ? before !== "running"
    : before === "running" || (before === "waiting" && word === "stopped");

/**
 * The runner's events while the task was idle. A structured result directly after
 * `stopped` belongs to the end, and a decision's tool event directly before `running` to the user.
 */
function afterTheEnd(events: readonly CheckedEvent[]): readonly CheckedEvent[] {
  let status: string | undefined = "stopped";
  return events.filter((event, i) => {
    if (event.type === "status_update") status = event.status;
    const isResult = event.type === "structured_output_result" && events[i - 1]?.status === "stopped";
    const isDecision =
      event.type === "tool_used" && status === "waiting" && events[i + 1]?.status === "running";
    return status !== "running" && !isResult && !isDecision && !notByRunner.includes(event.type);
  });
}
