import type { JsonObject } from "../json.ts";
import type { UserInput } from "./message.ts";
import type { Task } from "./task.ts";
import { noResources } from "./task-resources.ts";
import type { TurnRequest } from "./turn-request.ts";

/** The fields that task.sendMessage may set in addition to the message; absent fields stay as they are. */
export interface TurnOptions {
  readonly agentProfile?: string | undefined;
  /** Removes the task's connectors (spec/api.md 9.9). */
  readonly clearConnectors?: boolean;
  /** `checkSchema` has accepted it. */
  readonly outputSchema?: JsonObject | undefined;
  /** `checkTurnRequest` has accepted it. */
  readonly turnRequest?: TurnRequest | undefined;
  /** When an agent that works reads it; absent: before its next call, if it can. */
  readonly delivery?: "next_call" | "next_turn" | undefined;
}

export interface SentMessage {
  /** Also when the request used a shortcut. */
  readonly taskId: string;
  /** Why the message is not read when the request says. */
  readonly warnings: readonly string[];
}

/**
 * When a message is read. One that brings something for a turn begins the next turn: skills, connectors and
 * profile do not change within one.
 */
export function deliveryOf(
  { status, agentProfile }: Task,
  { references, resources = noResources }: UserInput,
  turn: TurnOptions,
  canSteer: (profile: string) => boolean,
): { readonly delivery?: "next_turn" | undefined; readonly warnings: readonly string[] } {
  const { connectors, skills, forced } = resources;
  const bringsMore =
    turn.agentProfile !== agentProfile ||
    turn.outputSchema !== undefined ||
    turn.turnRequest !== undefined ||
    turn.clearConnectors === true ||
    [references, connectors, skills, forced].some((list) => list.length > 0);
  const delivery = bringsMore || turn.delivery === "next_turn" ? "next_turn" : undefined;
  if (status !== "running" || turn.delivery !== "next_call") return { delivery, warnings: [] };
  if (bringsMore) return { delivery, warnings: [bringsMoreText] };
  return { delivery, warnings: canSteer(agentProfile) ? [] : [cannotSteerText] };
}

const cannotSteerText =
  "delivery: the agent of the task does not read messages while it works: this one starts the next turn";
const bringsMoreText =
  "delivery: a message with another profile, a schema, skills, connectors or references starts the next turn";
