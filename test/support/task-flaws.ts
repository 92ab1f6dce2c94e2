/** An event as far as it is checked, from a store or from an answer. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  /** Unix ms. */
  readonly timestamp: number;
  /** Of a status_update. */
  readonly status?: string | undefined;
  /** Of a message. */
  readonly text?: string | undefined;
}

/** A task with all its events, oldest first. */
export interface SeenTask {
  readonly id: string;
  readonly status: string;
  readonly events: readonly SeenEvent[];
}

/** What an ended task may get still; all else is the runner's. */
const notByRunner: readonly string[] = ["user_message", "user_stop", "status_update"];

/** What of a task breaks a rule that holds of every task at every moment, whatever happened to it; nothing when all is well. */
export function taskFlaws({ status, events }: SeenTask): readonly string[] {
  const flaws: string[] = [];
  const rule = (text: string, breaks: readonly unknown[]) => {
    if (breaks.length > 0) flaws.push(`${text}: ${JSON.stringify(breaks)}`);
  };
  rule(
    "numbers run from 1, without gap or double",
    events.filter(({ seq }, i) => seq !== i + 1),
  );
  rule(
    "times increase strictly",
    events.filter(({ timestamp }, i) => i > 0 && timestamp <= (events[i - 1]?.timestamp ?? 0)),
  );
  const statuses = events.filter(({ type }) => type === "status_update").map((event) => event.status);
  rule(
    `one end per turn, in ${statuses.join(" ")}`,
    statuses.filter((word, i) => !follows(word, statuses[i - 1])),
  );
  rule("the status is the newest status_update", statuses.at(-1) === status ? [] : [status, ...statuses.slice(-1)]);
  rule("no runner writes after the end", afterTheEnd(events));
  return flaws;
}

/** A task runs, rests, and runs again; only what waits may also be stopped where it stands. */
const follows = (word: string | undefined, before: string | undefined): boolean =>
  word === "running" ? before !== "running" : before === "running" || (before === "waiting" && word === "stopped");

/**
 * What a runner wrote while the task was at rest. A structured result right behind
 * `stopped` belongs to the end, and a decision's tool right before `running` to the user.
 */
function afterTheEnd(events: readonly SeenEvent[]): readonly SeenEvent[] {
  let status: string | undefined = "stopped";
  return events.filter((event, i) => {
    if (event.type === "status_update") status = event.status;
    const isResult = event.type === "structured_output_result" && events[i - 1]?.status === "stopped";
    const isDecision = event.type === "tool_used" && status === "waiting" && events[i + 1]?.status === "running";
    return status !== "running" && !isResult && !isDecision && !notByRunner.includes(event.type);
  });
}
