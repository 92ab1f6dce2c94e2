import type { Task } from "../../../packages/client/src/index.ts";
import type { Turn } from "../shared/turn.ts";
import type { Block } from "./results.ts";

/** How often a client should look, in milliseconds. */
const pollMs = 2_000;

/**
 * The id of a turn as a task of the protocol. A task of the platform has several turns, each of which ends
 * once.
 */
export const handleOf = ({ taskId, seq }: Turn): string => `${taskId}.${seq}`;

/** The turn of an id; null for a text that is none. */
export function turnOf(handle: string): Turn | null {
  const [, taskId, seq] = /^([A-Za-z0-9]{1,64})\.(\d{1,9})$/.exec(handle) ?? [];
  return taskId === undefined ? null : { taskId, seq: Number(seq) };
}

/** The members that every task of the protocol has. */
export function handleFacts(turn: Turn, { created_at, updated_at, brief }: Task) {
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString();
  return {
    taskId: handleOf(turn),
    ...(brief && { statusMessage: brief }),
    createdAt: time(created_at),
    lastUpdatedAt: time(updated_at),
    // The platform keeps tasks until they are deleted.
    ttlMs: null,
    pollIntervalMs: pollMs,
  };
}

/** The call continues as a task of the protocol (extension `io.modelcontextprotocol/tasks`). */
export interface TaskStarted extends ReturnType<typeof handleFacts> {
  readonly resultType: "task";
  readonly content: Block[];
  readonly status: "working";
}

/** The answer to a call that continues as a task. */
export const startedTask = (turn: Turn, task: Task): TaskStarted => ({
  resultType: "task",
  content: [],
  status: "working",
  ...handleFacts(turn, task),
});
