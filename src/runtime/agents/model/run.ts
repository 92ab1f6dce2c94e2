import type { ModelConfig, RunLimits } from "../../../config/models.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Log } from "../../../core/log.ts";
import type { Observe } from "../../../core/observe.ts";
import type { NewEvent, PlanStep } from "../../../core/tasks/event.ts";
import type { FetchPolicy } from "../../../core/tasks/fetch-policy.ts";
import type { Usage } from "../../../core/usage/price.ts";
import type { AgentEvent, Hold, Progress, Turn } from "../../agent.ts";
import { callIds, type FinishedUse, readEvents, type TurnProgress } from "./conversation.ts";
import { TurnError, timeoutError } from "./fault.ts";
import { earlierParts } from "./history.ts";
import { planTool, statuses } from "./plan.ts";
import { type Conversation, requestText, systemPrompt } from "./prompt.ts";
import type { LanguageModel } from "./provider.ts";
import { conformsTo, type Tool, type ToolsFor } from "./tool.ts";

/**
 * What a turn with a question stores for the turn that is answered: its plan, and the results of its tools.
 */
export interface Memo {
  readonly used: readonly FinishedUse[];
  readonly plan: readonly PlanStep[];
}

/** The most characters of JSON in a memo. The newest uses are kept. */
const memoMax = 100_000;

/** Creates the memo of a turn with a question. Uses of the previous memo are kept while there is space. */
export function createMemo({ steps, plan }: TurnProgress, before: Memo): Json {
  const used: FinishedUse[] = [];
  let charactersLeft = memoMax;
  for (const use of [...before.used, ...steps.flatMap(({ uses }) => uses)].toReversed()) {
    charactersLeft -= JSON.stringify(use).length;
    if (charactersLeft < 0) break;
    used.unshift(use);
  }
  return { used: used.map((use) => ({ ...use })), plan: plan.map((step) => ({ ...step })) };
}

const memoSchema: JsonObject = {
  type: "object",
  required: ["used", "plan"],
  properties: {
    used: {
      type: "array",
      items: {
        type: "object",
        required: ["tool", "input", "result", "isError"],
        properties: { tool: { type: "string" }, input: { type: "object" }, isError: { type: "boolean" } },
      },
    },
    plan: {
      type: "array",
      items: {
        type: "object",
        required: ["status", "title"],
        properties: {
          status: { type: "string", enum: [...statuses] },
          title: { type: "string" },
          startedAt: { type: "number" },
          endAt: { type: "number" },
        },
      },
    },
  },
};

/** Reads a memo; any other value, for example another agent's memo, is read as an empty one. */
export const readMemo = (memo: Json): Memo =>
  conformsTo<Memo>(memoSchema, memo) ? memo : { used: [], plan: [] };

/** The limits of a run, and how much of them it has used. */
interface Limits {
  /** The end of the run's time, on the monotonic clock. */
  readonly deadline: number;
  /**
   * Checks the limits before a call of the model.
   *
   * @param steps the number of steps of the turn so far.
   * @throws TurnError `step_limit`, `timeout` or `quota_limit`.
   */
  check(steps: number): void;
  /** True when the run's credits cover a hold. Call it after a reservation. */
  covers(hold: Hold): boolean;
  /** Adds the usage of a call. @param atMost the number of tokens that the hold was for. */
  add(tokens: number, atMost: number, hold: Hold): void;
}

/**
 * Opens the limits of one run. Steps count over all runs of a turn, because they are counted from its events.
 * Time, tokens and credits count from the start of the run. The cost of a call is the part of its hold that
 * its tokens used.
 */
function openLimits(
  { steps: stepsMax, minutes, tokens: tokensMax, credits: creditsMax }: RunLimits,
  clock: Clock,
): Limits {
  const deadline = clock.monotonic() + minutes * 60_000;
  let tokens = 0;
  let credits = 0;
  return {
    deadline,
    check(steps) {
      if (steps >= stepsMax)
        throw new TurnError("step_limit", `The run reached its limit of ${stepsMax} steps.`);
      if (clock.monotonic() >= deadline) throw timeoutError();
      if (tokens >= tokensMax) throw new TurnError("quota_limit", "The run has used up its tokens.");
    },
    covers: (hold) => creditsMax === null || credits + hold.credits <= creditsMax,
    add(used, atMost, hold) {
      tokens += used;
      credits += Math.ceil(hold.credits * Math.min(1, used / Math.max(1, atMost)));
    },
  };
}

export interface ModelParts {
  readonly config: ModelConfig;
  /** The requests that its entry allows. */
  readonly policy: FetchPolicy;
  readonly model: LanguageModel;
  readonly toolsFor: ToolsFor;
  /** Random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
  readonly observe?: Pick<Observe, "modelCalled" | "tokensUsed">;
}

/** One run of a turn: its constants and its progress. */
export interface Run extends ModelParts {
  readonly turn: Turn;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The random mark around data, new for each run. */
  readonly mark: string;
  readonly limits: Limits;
  readonly callId: ReturnType<typeof callIds>;
  /** The progress of the turn, with the events of this run. */
  progress(): TurnProgress;
  conversation(): Conversation;
  /** Records events. Returns them for a yield, with all usage since the last call. */
  record(events: readonly AgentEvent[]): Progress;
  /** Adds usage and an ended hold, which are reported with the next events. */
  spend(usage: Partial<Usage>, hold?: Hold): void;
  /** True while usage or ended holds are not reported. */
  hasUnreportedCosts(): boolean;
}

/** Opens a run of a turn, at the turn's start or after the events of an earlier run. */
export function openRun(parts: ModelParts, turn: Turn): Run {
  const events: NewEvent[] = [...turn.written];
  const mark = Buffer.from(parts.random(9)).toString("base64url").replaceAll(/[-_]/g, "x");
  const memo = readMemo(turn.memo);
  const tools = new Map(
    parts.toolsFor(turn).flatMap((tool) => (tool.name === planTool.name ? [] : [[tool.name, tool] as const])),
  );
  const earlier = earlierParts(turn.earlier, memo.used, tools);
  const system = systemPrompt(turn, mark);
  const asked = requestText(turn, mark);
  let usage: Usage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };
  let settles: Hold[] = [];
  const limits = openLimits(parts.config.limits, turn.clock);

  function progress(): TurnProgress {
    const read = readEvents(events);
    return read.plan.length === 0 ? { ...read, plan: memo.plan } : read;
  }

  return {
    ...parts,
    turn,
    tools,
    mark,
    limits,
    callId: callIds(turn),
    progress,
    conversation: () => ({
      system,
      earlier,
      recalled: memo.used,
      request: asked,
      steps: progress().steps,
      tail: [],
    }),
    record(added) {
      events.push(...added);
      const costs = { usage, settles };
      usage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };
      settles = [];
      return hasCosts(costs) ? { events: added, ...costs } : { events: added };
    },
    spend({ inputTokens = 0, outputTokens = 0, toolCalls = 0 }, hold) {
      usage = {
        inputTokens: usage.inputTokens + inputTokens,
        outputTokens: usage.outputTokens + outputTokens,
        toolCalls: usage.toolCalls + toolCalls,
      };
      if (hold) settles.push(hold);
    },
    hasUnreportedCosts: () => hasCosts({ usage, settles }),
  };
}

const hasCosts = ({
  usage,
  settles,
}: {
  readonly usage: Usage;
  readonly settles: readonly Hold[];
}): boolean => settles.length > 0 || Object.values(usage).some((used) => used > 0);
