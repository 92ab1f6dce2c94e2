import { toJson } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import type { TaskAttachment } from "#proto/task/v2/task_attachment_pb.ts";
import {
  type PlanStep,
  PlanStepStatus,
  type TaskEvent,
  TaskEventSchema,
} from "#proto/task/v2/task_event_pb.ts";
import { type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import type { GetTaskResponse } from "#proto/task/v2/task_service_pb.ts";
import { RulesInForce } from "../rules/rules-list.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { scrollable } from "../ui/static-parts.ts";
import { formatDateTime, formatDuration, formatNumber, fromSeconds } from "../ui/time.tsx";
import { TaskWebsite } from "../websites/task-website.tsx";
import { Attachment } from "./attachment.tsx";
import { TaskBrowser } from "./browser.tsx";
import { PlanBar } from "./plan-bar.tsx";
import { Pushes } from "./pushes.tsx";
import { Subtasks } from "./subtasks.tsx";
import styles from "./task.module.css";
import { doneSteps, type Timeline } from "./timeline.ts";
import { Tools } from "./tools.tsx";
import { text } from "./words.ts";

/** Plan, files, subtasks and facts of a task, beside its conversation. */
export function Panel({
  task,
  timeline,
  events,
  levels,
  onRules,
}: {
  task: Task | undefined;
  timeline: Timeline;
  events: readonly TaskEvent[];
  /** The rules that hold for the task. */
  levels: GetTaskResponse["permissions"];
  /** They were changed. */
  onRules: () => void;
}) {
  const [showsEvents, setShowsEvents] = useState(false);
  const files = useMemo(() => filesOf(timeline), [timeline]);
  const { plan, status = task?.status } = timeline;
  return (
    <aside className={styles.panel} aria-label={text.panel}>
      {plan.length > 0 && (
        <section>
          <h2>
            {text.plan} <small>{text.doneOf(doneSteps(plan), plan.length)}</small>
          </h2>
          <PlanBar plan={plan} />
          <ol className={styles.plan}>
            {plan.map((step) => (
              <Step key={step.title} step={step} status={status} />
            ))}
          </ol>
        </section>
      )}
      {files.length > 0 && (
        <section>
          <h2>
            {text.files} <small>{files.length}</small>
          </h2>
          <div className={styles.panelFiles}>
            {files.map((file) => (
              <Attachment key={file.url} file={file} />
            ))}
          </div>
        </section>
      )}
      {task && <TaskWebsite taskId={task.id} change={events.findLast(changesWebsite)?.seq} />}
      {task && usesBrowsers(task) && (
        <TaskBrowser taskId={task.id} change={events.findLast(changesState)?.seq} />
      )}
      {task && <Subtasks task={task} />}
      {task && <Pushes taskId={task.id} />}
      {task && <RulesInForce taskId={task.id} levels={levels} onChanged={onRules} />}
      {task && <Details task={task} />}
      <section className={styles.tools}>
        {task && <Tools taskId={task.id} events={events} />}
        <button
          type="button"
          className={`button ghost ${styles.events}`}
          onClick={() => setShowsEvents(true)}
        >
          <Icon name="terminal" />
          {text.rawEvents}
        </button>
      </section>
      {showsEvents && <EventsDialog events={events} onClose={() => setShowsEvents(false)} />}
    </aside>
  );
}

/** A browser is selected while the task waits, and is free when it has ended. */
const usesBrowsers = ({ status }: Task): boolean =>
  status === TaskStatus.RUNNING || status === TaskStatus.WAITING;

const changesState = ({ payload }: TaskEvent): boolean => payload.case === "statusUpdate";

/** An agent saves a website during its turn, by a tool or with its result. */
const changesWebsite = ({ payload }: TaskEvent): boolean =>
  payload.case === "statusUpdate" ||
  (payload.case === "toolUsed" && /^(save|publish)_site$/.test(payload.value.tool));

const stepIcons: Readonly<
  Record<PlanStepStatus, { readonly icon: IconName; readonly tone: string | undefined }>
> = {
  [PlanStepStatus.UNSPECIFIED]: { icon: "todo", tone: "" },
  [PlanStepStatus.TODO]: { icon: "todo", tone: "" },
  [PlanStepStatus.DOING]: { icon: "running", tone: styles.now },
  [PlanStepStatus.DONE]: { icon: "done", tone: styles.ok },
  [PlanStepStatus.FAILED]: { icon: "failed", tone: styles.bad },
};

const stoppedStep = { icon: "stop", tone: "" } as const;

/** A step, as the task is now: a step of a task that waits or has ended does not turn. */
function Step({ step, status }: { step: PlanStep; status: TaskStatus | undefined }) {
  const isOpen = step.status === PlanStepStatus.DOING;
  const hasEnded = status === TaskStatus.STOPPED || status === TaskStatus.ERROR;
  const { icon, tone } =
    isOpen && hasEnded ? stoppedStep : (stepIcons[step.status] ?? stepIcons[PlanStepStatus.TODO]);
  const { startedAt, endAt } = step;
  return (
    <li className={tone}>
      <Icon name={icon} className={isOpen && status === TaskStatus.RUNNING ? "spin" : ""} />
      <span>{step.title}</span>
      <small>
        {startedAt !== undefined && endAt !== undefined && endAt > startedAt
          ? formatDuration(fromSeconds(endAt) - fromSeconds(startedAt))
          : ""}
      </small>
    </li>
  );
}

function Details({ task }: { task: Task }) {
  const projects = useQuery(ProjectService.method.listProjects, {});
  const projectId = task.projectId ?? "";
  const project = projects.data?.data.find(({ id }) => id === projectId)?.name;
  const startedBy = task.createdByApp?.name || task.createdByApiKey?.name;
  return (
    <section>
      <h2>{text.details}</h2>
      <dl className={`facts ${styles.facts}`}>
        {task.creditUsage !== undefined && (
          <>
            <dt>{text.cost}</dt>
            <dd>{text.credits(formatNumber(task.creditUsage))}</dd>
          </>
        )}
        {project && (
          <>
            <dt>{text.project}</dt>
            <dd>{project}</dd>
          </>
        )}
        {task.agentProfile && (
          <>
            <dt>{text.profile}</dt>
            <dd>{task.agentProfile}</dd>
          </>
        )}
        {startedBy && (
          <>
            <dt>{text.startedBy}</dt>
            <dd>{startedBy}</dd>
          </>
        )}
        {task.importedFrom && (
          <>
            <dt>{text.importedFrom}</dt>
            <dd title={task.importedFrom.origin}>{task.importedFrom.origin.replace(/^https?:\/\//, "")}</dd>
          </>
        )}
        <dt>{text.visible}</dt>
        <dd>{text.visibility[task.shareVisibility as keyof typeof text.visibility]}</dd>
        <dt>{text.created}</dt>
        <dd>{formatDateTime(fromSeconds(task.createdAt))}</dd>
        {Object.entries(task.metadata).map(([key, value]) => (
          <Pair key={key} name={key} value={value} />
        ))}
        <dt>{text.taskId}</dt>
        <dd>
          <code>{task.id}</code>
        </dd>
      </dl>
    </section>
  );
}

const Pair = ({ name, value }: { name: string; value: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);

/** The files of all messages, each once, newest first. */
function filesOf({ items }: Timeline): readonly TaskAttachment[] {
  const all = items.flatMap((item) =>
    item.kind === "agent" || item.kind === "user" ? item.message.attachments : [],
  );
  return [...new Map(all.map((file) => [file.filename, file])).values()].toReversed();
}

function EventsDialog({ events, onClose }: { events: readonly TaskEvent[]; onClose: () => void }) {
  const shown = events.slice(-200).map((event) => JSON.stringify(toJson(TaskEventSchema, event)));
  return (
    <Dialog title={text.events} onClose={onClose}>
      <pre className={styles.previewText} {...scrollable}>
        {shown.join("\n")}
      </pre>
    </Dialog>
  );
}
