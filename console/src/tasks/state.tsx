import { RunState, type Task, TaskOutcome, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { words } from "../words.ts";

const text = words(
  {
    queued: "Queued",
    noWorker: "Waiting for a worker",
    subtasks: "Waits for subtasks",
    running: "Running",
    waiting: "Needs you",
    done: "Done",
    stopped: "Stopped",
    failed: "Failed",
    unknown: "Unknown",
  },
  {
    queued: "In der Warteschlange",
    noWorker: "Wartet auf einen Worker",
    subtasks: "Wartet auf Teilaufgaben",
    running: "Läuft",
    waiting: "Wartet auf Sie",
    done: "Fertig",
    stopped: "Gestoppt",
    failed: "Fehlgeschlagen",
    unknown: "Unbekannt",
  },
);

/** The word, icon and colour of each state: colour is never the only sign. */
const states: Readonly<
  Record<TaskStatus, { readonly word: string; readonly icon: IconName; readonly tone: string }>
> = {
  [TaskStatus.UNSPECIFIED]: { word: text.unknown, icon: "todo", tone: "rest" },
  [TaskStatus.RUNNING]: { word: text.running, icon: "running", tone: "run" },
  [TaskStatus.WAITING]: { word: text.waiting, icon: "hand", tone: "wait" },
  [TaskStatus.STOPPED]: { word: text.done, icon: "done", tone: "done" },
  [TaskStatus.ERROR]: { word: text.failed, icon: "failed", tone: "fail" },
};

/** A running task on which no agent works now. */
const notStarted: Readonly<Partial<Record<RunState, string>>> = {
  [RunState.QUEUED]: text.queued,
  [RunState.WAITING_FOR_WORKER]: text.noWorker,
  [RunState.WAITING_FOR_SUBTASKS]: text.subtasks,
};

const stoppedByPerson = { word: text.stopped, icon: "stop", tone: "rest" } as const;

interface BadgeProps {
  readonly status: Task["status"];
  /** Tells whether the task finished or a person stopped it. */
  readonly outcome?: Task["outcome"];
  /** Tells whether an agent works on a running task. */
  readonly runState?: Task["runState"];
}

/** The state of a task. */
export function StateBadge({ status, outcome, runState = RunState.UNSPECIFIED }: BadgeProps) {
  const waits = status === TaskStatus.RUNNING ? notStarted[runState] : undefined;
  if (waits)
    return (
      <span className="badge rest">
        <Icon name="clock" />
        {waits}
      </span>
    );
  const isStopped = status === TaskStatus.STOPPED && outcome === TaskOutcome.STOPPED;
  const { word, icon, tone } = isStopped
    ? stoppedByPerson
    : (states[status] ?? states[TaskStatus.UNSPECIFIED]);
  return (
    <span className={`badge ${tone}`}>
      <Icon name={icon} className={status === TaskStatus.RUNNING ? "spin" : ""} />
      {word}
    </span>
  );
}
