import { type TaskEvent, ToolUsedStatus } from "#proto/task/v2/task_event_pb.ts";
import type { TaskCost } from "#proto/task/v2/task_inspection_pb.ts";
import { TaskStatus } from "#proto/task/v2/task_pb.ts";

/** What took the time before an event. */
export type StepKind = "tool" | "failed" | "message" | "thought" | "plan" | "wait" | "queue";

/** One event of a turn, with the time since the one before. Times are Unix milliseconds. */
export interface Step {
  readonly key: string;
  readonly kind: StepKind;
  /** The name of the tool, or empty. */
  readonly name: string;
  readonly from: number;
  readonly at: number;
}

/** What an agent did between a message of the user and the end that follows. */
export interface Turn {
  readonly number: number;
  readonly at: number;
  /** Undefined while it runs. */
  readonly endedAt?: number;
  readonly status: TaskStatus;
  readonly steps: readonly Step[];
  readonly costs: readonly TaskCost[];
}

interface OpenTurn {
  readonly number: number;
  readonly at: number;
  endedAt?: number;
  status: TaskStatus;
  readonly steps: Step[];
}

/**
 * The turns of a task from its verbose events, in the order of `seq`, with the costs of their time. The first
 * one is cut when earlier events are not loaded.
 */
export function turnsOf(events: readonly TaskEvent[], costs: readonly TaskCost[]): readonly Turn[] {
  const turns: OpenTurn[] = [];
  for (const event of events) {
    const at = Number(event.timestamp);
    const open = turns.at(-1);
    const isNew = open === undefined || (event.payload.case === "userMessage" && open.endedAt !== undefined);
    const turn = isNew ? { number: turns.length + 1, at, status: TaskStatus.RUNNING, steps: [] } : open;
    if (isNew) turns.push(turn);
    else addStep(turn, event, at);
  }
  return turns.map((turn, index) => ({
    ...turn,
    costs: costsBetween(costs, turn.at, turns[index + 1]?.at, index === 0),
  }));
}

function addStep(turn: OpenTurn, { id, payload }: TaskEvent, at: number): void {
  const from = turn.steps.at(-1)?.at ?? turn.at;
  const add = (kind: StepKind, name = ""): void => void turn.steps.push({ key: id, kind, name, from, at });
  switch (payload.case) {
    case "toolUsed":
      add(
        payload.value.status === ToolUsedStatus.ERROR ? "failed" : "tool",
        payload.value.message?.action || payload.value.tool,
      );
      break;
    case "assistantMessage":
      add("message");
      break;
    case "explanation":
      add("thought");
      break;
    case "newPlanStep":
    case "planUpdate":
      add("plan");
      break;
    case "statusUpdate": {
      const { agentStatus } = payload.value;
      // The time of a wait goes to the step that ends it.
      if (turn.status === TaskStatus.WAITING && agentStatus === TaskStatus.RUNNING) add("wait");
      else if (agentStatus === TaskStatus.RUNNING && turn.steps.length === 0) add("queue");
      turn.status = agentStatus;
      if (agentStatus === TaskStatus.STOPPED || agentStatus === TaskStatus.ERROR) turn.endedAt = at;
      else delete turn.endedAt;
      break;
    }
    default:
      break;
  }
}

const costsBetween = (
  costs: readonly TaskCost[],
  from: number,
  before: number | undefined,
  isFirst: boolean,
): readonly TaskCost[] =>
  costs.filter(({ at }) => (isFirst || Number(at) >= from) && (before === undefined || Number(at) < before));

/** The sums of costs. */
export function sumOf(costs: readonly TaskCost[]): {
  readonly input: bigint;
  readonly cached: bigint;
  readonly output: bigint;
  readonly credits: bigint;
  readonly tools: bigint;
} {
  const sum = (of: (cost: TaskCost) => bigint): bigint => costs.reduce((total, cost) => total + of(cost), 0n);
  return {
    input: sum(({ inputTokens }) => inputTokens),
    cached: sum(({ cachedInputTokens }) => cachedInputTokens),
    output: sum(({ outputTokens }) => outputTokens),
    credits: sum(({ credits }) => credits),
    tools: sum(({ toolCalls }) => toolCalls),
  };
}
