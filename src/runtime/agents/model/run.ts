import type { ModelConfig } from "../../../config/models.ts";
import type { Log } from "../../../core/log.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import type { AgentEvent, Hold, Progress, Turn, Usage } from "../../agent.ts";
import { callIds } from "./call-id.ts";
import { type Progressed, readEvents } from "./conversation.ts";
import { type Limits, openLimits } from "./limits.ts";
import { readMemo } from "./memo.ts";
import { planTool } from "./plan.ts";
import type { Conversation } from "./prompt.ts";
import { askedIn, systemPrompt } from "./prompt.ts";
import type { LanguageModel } from "./provider.ts";
import type { Tool, ToolsFor } from "./tool.ts";

/** What the model agent needs. */
export interface ModelParts {
  readonly config: ModelConfig;
  readonly model: LanguageModel;
  readonly toolsFor: ToolsFor;
  /** Random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Log;
}

/** One run of a turn: what stays the same in it, and what it has come to. */
export interface Run extends ModelParts {
  readonly turn: Turn;
  readonly tools: ReadonlyMap<string, Tool>;
  /** What data stands between; made by chance for each run. */
  readonly mark: string;
  readonly limits: Limits;
  readonly callId: ReturnType<typeof callIds>;
  /** How far the turn has come, with what this run has told. */
  progress(): Progressed;
  conversation(): Conversation;
  /** Events to be yielded, with all that was used up since the last ones. */
  tell(events: readonly AgentEvent[]): Progress;
  /** What was used up goes with the next events, and so does a hold that ends. */
  spend(usage: Partial<Usage>, hold?: Hold): void;
  /** Something was used up that no event tells of yet. */
  owes(): boolean;
}

/** Opens a run of a turn, at its start or where an earlier run has left it. */
export function openRun(parts: ModelParts, turn: Turn): Run {
  const events: NewEvent[] = [...turn.written];
  const mark = Buffer.from(parts.random(9)).toString("base64url").replaceAll(/[-_]/g, "x");
  const memo = readMemo(turn.memo);
  const system = systemPrompt(turn, mark);
  const asked = askedIn(turn, mark);
  let usage: Usage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };
  let settles: Hold[] = [];
  const limits = openLimits(parts.config.limits, turn.clock);

  function progress(): Progressed {
    const read = readEvents(events);
    return read.plan.length === 0 ? { ...read, plan: memo.plan } : read;
  }

  return {
    ...parts,
    turn,
    tools: new Map(parts.toolsFor(turn).flatMap((tool) => (tool.name === planTool.name ? [] : [[tool.name, tool]]))),
    mark,
    limits,
    callId: callIds(turn),
    progress,
    conversation: () => ({ system, earlier: turn.earlier, recalled: memo.used, asked, steps: progress().steps, tail: [] }),
    tell(told) {
      events.push(...told);
      const costs = { usage, settles };
      usage = { inputTokens: 0, outputTokens: 0, toolCalls: 0 };
      settles = [];
      return owes(costs) ? { events: told, ...costs } : { events: told };
    },
    spend({ inputTokens = 0, outputTokens = 0, toolCalls = 0 }, hold) {
      usage = {
        inputTokens: usage.inputTokens + inputTokens,
        outputTokens: usage.outputTokens + outputTokens,
        toolCalls: usage.toolCalls + toolCalls,
      };
      if (hold) settles.push(hold);
    },
    owes: () => owes({ usage, settles }),
  };
}

const owes = ({ usage, settles }: { readonly usage: Usage; readonly settles: readonly Hold[] }): boolean =>
  settles.length > 0 || Object.values(usage).some((used) => used > 0);
