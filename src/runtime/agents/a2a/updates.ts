import {
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { Place } from "./conversation.ts";
import { textOf } from "./result.ts";

const over: readonly TaskState[] = [
  TaskState.COMPLETED,
  TaskState.FAILED,
  TaskState.CANCELED,
  TaskState.REJECTED,
];
const waiting: readonly TaskState[] = [TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED];

/** The most texts of a turn that become events. */
const textsMax = 500;

/** What an agent has sent about its task. */
export interface Seen {
  /** Takes an item of a stream; returns what the agent said while it works. */
  take(item: StreamResponse): readonly string[];
  /** Takes the task as it is now; returns what the agent said and was not seen before. */
  takeTask(task: Task): readonly string[];
  place(): Place | undefined;
  state(): TaskState;
  /** The task is over, or a message was the whole answer. */
  isOver(): boolean;
  /** The agent no longer works. */
  isSettled(): boolean;
  /** The message of the state, or the answer without a task. */
  message(): readonly Part[];
  artifacts(): readonly Part[];
}

/** @param spoken texts that are events of the turn already. */
export function seenOf(known: Place | undefined, spoken: readonly string[]): Seen {
  let place = known;
  let status: TaskStatus | undefined;
  let answer: Message | undefined;
  const artifacts = new Map<string, readonly Part[]>();
  const said = new Set(spoken);

  function say(message: Message | undefined): readonly string[] {
    const text = textOf(message?.parts ?? []);
    if (text === "" || said.has(text) || said.size >= textsMax) return [];
    said.add(text);
    return [text];
  }

  function setStatus(next: TaskStatus | undefined): readonly string[] {
    if (next) status = next;
    return next && !isSettledIn(next.state) ? say(next.message) : [];
  }

  function setTask({ id, contextId, status: next, artifacts: all }: Task): readonly string[] {
    place = { taskId: id, contextId };
    for (const { artifactId, parts } of all) artifacts.set(artifactId, parts);
    return setStatus(next);
  }

  function take({ payload }: StreamResponse): readonly string[] {
    if (payload.case === "task") return setTask(payload.value);
    if (payload.case === "statusUpdate") return setStatus(payload.value.status);
    if (payload.case === "artifactUpdate") {
      const { artifact, append } = payload.value;
      if (artifact)
        artifacts.set(artifact.artifactId, [
          ...(append ? (artifacts.get(artifact.artifactId) ?? []) : []),
          ...artifact.parts,
        ]);
    }
    if (payload.case === "message") {
      answer = payload.value;
      place = { taskId: answer.taskId, contextId: answer.contextId };
    }
    return [];
  }

  return {
    take,
    takeTask(task) {
      const turn = task.history.slice(task.history.findLastIndex(({ role }) => role === Role.USER) + 1);
      const results = [task.status?.message, ...task.artifacts].map((of) => textOf(of?.parts ?? []));
      const missed = turn.filter(({ parts }) => !results.includes(textOf(parts))).flatMap(say);
      return [...missed, ...setTask(task)];
    },
    place: () => place,
    state: () => status?.state ?? TaskState.UNSPECIFIED,
    isOver: () => answer !== undefined || (status !== undefined && over.includes(status.state)),
    isSettled: () => answer !== undefined || (status !== undefined && isSettledIn(status.state)),
    message: () => (answer ?? status?.message)?.parts ?? [],
    artifacts: () => [...artifacts.values()].flat(),
  };
}

const isSettledIn = (state: TaskState): boolean => over.includes(state) || waiting.includes(state);
