import { type Task, TaskOutcome, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { words } from "../words.ts";

const text = words(
  { running: "Running", waiting: "Needs you", done: "Done", stopped: "Stopped", failed: "Failed", unknown: "Unknown" },
  { running: "Läuft", waiting: "Braucht Sie", done: "Fertig", stopped: "Gestoppt", failed: "Fehlgeschlagen", unknown: "Unbekannt" },
);

/** The word, icon and colour of each state: colour never stands alone. */
const states: Readonly<Record<TaskStatus, { readonly word: string; readonly icon: IconName; readonly tone: string }>> = {
  [TaskStatus.UNSPECIFIED]: { word: text.unknown, icon: "todo", tone: "rest" },
  [TaskStatus.RUNNING]: { word: text.running, icon: "running", tone: "run" },
  [TaskStatus.WAITING]: { word: text.waiting, icon: "hand", tone: "wait" },
  [TaskStatus.STOPPED]: { word: text.done, icon: "done", tone: "done" },
  [TaskStatus.ERROR]: { word: text.failed, icon: "failed", tone: "fail" },
};

const stoppedByPerson = { word: text.stopped, icon: "stop", tone: "rest" } as const;

/** The state of a task; with its outcome, also whether it finished or a person stopped it. */
export function StateBadge({ status, outcome }: { status: Task["status"]; outcome?: Task["outcome"] }) {
  const isStopped = status === TaskStatus.STOPPED && outcome === TaskOutcome.STOPPED;
  const { word, icon, tone } = isStopped ? stoppedByPerson : (states[status] ?? states[TaskStatus.UNSPECIFIED]);
  return (
    <span className={`badge ${tone}`}>
      <Icon name={icon} className={status === TaskStatus.RUNNING ? "spin" : ""} />
      {word}
    </span>
  );
}
