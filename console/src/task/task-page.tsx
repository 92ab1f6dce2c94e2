import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import {
  ContentPartSchema,
  ContentPartType,
  type Message,
  MessageSchema,
} from "#proto/task/v2/message_pb.ts";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import { RunState, type Task, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { type GetTaskResponse, TaskService } from "#proto/task/v2/task_service_pb.ts";
import { useMe } from "../api/me.ts";
import { initialsOf } from "../shell/initials.ts";
import { NotFound } from "../shell/not-found.tsx";
import { Composer } from "../tasks/composer.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Late } from "../ui/late.tsx";
import { useTitle } from "../ui/title.ts";
import { catalogued } from "../words.ts";
import { shownText } from "./act-view.tsx";
import { ApprovalCard } from "./ask-card.tsx";
import { useTaskEvents } from "./events.ts";
import { Flow } from "./flow.tsx";
import { Head } from "./head.tsx";
import { messageHash } from "./message-hash.ts";
import { Panel } from "./panel.tsx";
import { QuestionCard } from "./question-card.tsx";
import { Retry } from "./retry.tsx";
import { SendNote } from "./send-note.tsx";
import { subtasksEveryMs } from "./subtasks.tsx";
import styles from "./task.module.css";
import { timelineOf } from "./timeline.ts";
import { useSending } from "./use-sending.ts";
import { text } from "./words.ts";

/** Whether a task runs, and no agent works on it yet. */
const waits = (task: Pick<Task, "runState"> | undefined): boolean =>
  task?.runState === RunState.QUEUED || task?.runState === RunState.WAITING_FOR_WORKER;

/** The task's fields change without an event while it is queued, and while subtasks run. */
const refetchEvery = (task: Task | undefined): number | false =>
  waits(task) || task?.hasRunningBackgroundJobs ? subtasksEveryMs : false;

/** What a task that waits for an agent waits for; undefined for any other. */
const waitText = (
  detail: Pick<GetTaskResponse, "task" | "queuePosition"> | undefined,
): string | undefined => {
  if (detail?.task?.runState === RunState.WAITING_FOR_WORKER) return text.noWorker;
  return detail?.queuePosition === undefined ? undefined : text.queued(detail.queuePosition);
};

const textOf = ({ content }: Message): string =>
  content.find(({ type }) => type === ContentPartType.TEXT)?.text ?? "";

const changesTask = ({ payload }: TaskEvent): boolean =>
  payload.case === "statusUpdate" || (payload.case === "toolUsed" && payload.value.tool.endsWith("subtask"));

/** One task: its conversation, its open question, and its details. */
export function TaskPage() {
  const { taskId } = useParams({ from: "/shell/app/$taskId" });
  const me = useMe();
  const detail = useQuery(
    TaskService.method.getTask,
    { taskId },
    { refetchInterval: ({ state }) => refetchEvery(state.data?.task) },
  );
  const { feed, isLoaded, hasOlder, loadOlder, loadAll, connection, ...live } = useTaskEvents(taskId);
  const { events } = feed;
  const { sending, follow } = useSending(taskId, events);
  const readSeq = detail.data && Math.max(live.readSeq, detail.data.readSeq);
  const timeline = useMemo(() => timelineOf(feed, sending, readSeq), [feed, sending, readSeq]);
  const send = useMutation(TaskService.method.sendMessage);
  const post = (message: Message, files: readonly string[] = []): Promise<unknown> =>
    follow(textOf(message), files, () => send.mutateAsync({ taskId, message }));
  const lastAnswer = useRef("");
  const answer = (content: string): void => {
    lastAnswer.current = content;
    const message = create(MessageSchema, {
      content: [create(ContentPartSchema, { type: ContentPartType.TEXT, text: content })],
    });
    void post(message).catch(() => undefined);
  };
  const answerAgain = (): void => answer(lastAnswer.current);
  const composer = useRef<HTMLDivElement>(null);
  const toMessage = (): void => composer.current?.querySelector("textarea")?.focus();
  // The list leads here to say what to do instead.
  useEffect(() => {
    if (location.hash === `#${messageHash}`) composer.current?.querySelector("textarea")?.focus();
  }, []);

  // The task's own fields change with its status events, and with the subtasks that its agent starts.
  const { refetch } = detail;
  const lastStatus = events.findLast(changesTask)?.seq;
  useEffect(() => {
    if (lastStatus !== undefined) void refetch();
  }, [lastStatus, refetch]);
  const task = detail.data?.task;
  useTitle(task && shownText(task.title));

  if (detail.error && !task)
    return ConnectError.from(detail.error).code === Code.NotFound ? (
      <NotFound />
    ) : (
      <main className={styles.missing}>
        <ErrorNote error={detail.error} onRetry={() => void refetch()} />
      </main>
    );
  const status = timeline.status ?? task?.status ?? TaskStatus.UNSPECIFIED;
  const { waiting, question } = timeline;
  const last = timeline.items.findLast((item) => item.kind === "user");
  // An event after those that the answer knew is of an agent that works.
  const isStale = (events.at(-1)?.seq ?? 0) > (detail.data?.lastSeq ?? 0);
  const runState = isStale ? undefined : task?.runState;
  return (
    <div className={styles.task}>
      <main className={styles.conversation} aria-labelledby="title">
        <Head task={task} status={status} runState={runState} plan={timeline.plan} connection={connection} />
        <Flow
          key={taskId}
          items={timeline.items}
          stepCount={timeline.plan.length}
          initials={initialsOf(me.data?.name || me.data?.email || "")}
          sent={sending?.key}
          hasOlder={hasOlder}
          loadOlder={loadOlder}
          loadAll={loadAll}
          end={
            <>
              {!isLoaded && connection.kind !== "ended" && <Late>{text.connecting}</Late>}
              {status === TaskStatus.RUNNING && isLoaded && (
                <p className={styles.thinking}>
                  {(!isStale && waitText(detail.data)) || catalogued(timeline.brief) || text.thinking}
                </p>
              )}
              {status === TaskStatus.ERROR && isLoaded && last && (
                <Retry message={last.message} isBusy={send.isPending} onSend={post} />
              )}
              {waiting && question && (
                <QuestionCard
                  key={waiting.waitingForEventId}
                  question={question}
                  onAnswer={answer}
                  isBusy={send.isPending}
                />
              )}
              {waiting && !question && (
                <ApprovalCard
                  key={waiting.waitingForEventId}
                  taskId={taskId}
                  waiting={waiting}
                  tool={timeline.pendingTool}
                  onInstead={toMessage}
                />
              )}
            </>
          }
        />
        <div className={styles.composer}>
          <div className="stack tight" ref={composer}>
            <Composer
              key={taskId}
              draft={taskId}
              placeholder={question ? text.answer : text.message}
              isBusy={send.isPending}
              onSend={post}
              note={(retry) => (
                <SendNote send={send} connection={connection} onRetry={retry ?? answerAgain} />
              )}
            >
              {waiting && !question && <span className="small">{text.dropsQuestion}</span>}
            </Composer>
          </div>
        </div>
      </main>
      <Panel
        {...{ task, timeline, events }}
        levels={detail.data?.permissions ?? []}
        onRules={() => void refetch()}
      />
    </div>
  );
}
