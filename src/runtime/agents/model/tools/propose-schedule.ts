import type { JsonObject } from "../../../../core/json.ts";
import { scheduleApproval } from "../../../schedule-approval.ts";
import type { Tool } from "../tool.ts";
import { createTool, refusedResult, successResult } from "./create-tool.ts";

interface Input {
  readonly name: string;
  readonly message: string;
  readonly cron?: string;
  readonly interval_seconds?: number;
  readonly at?: string;
  readonly time_zone?: string;
}

/** Proposes a schedule: the user's approval creates it (spec/api.md 8.71). */
export const proposeSchedule: Tool = createTool<Input>({
  name: "propose_schedule",
  description:
    "Proposes a schedule, which begins a task with `message` at its times, for the user to approve. Give exactly one of cron, interval_seconds and at.",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 255 },
    message: {
      type: "string",
      minLength: 1,
      maxLength: 20_000,
    },
    cron: { type: "string", maxLength: 200, description: "Five fields." },
    interval_seconds: { type: "integer", minimum: 60, maximum: 31_536_000 },
    at: { type: "string", maxLength: 50, description: "RFC 3339 with an offset." },
    time_zone: {
      type: "string",
      maxLength: 100,
      description: "IANA name; default UTC.",
    },
  },
  required: ["name", "message"],
  asksItself: true,
  brief: ({ name }) => `Propose the schedule ${name}`,
  async use({ ...params }, { turn, decisions: [decision] }) {
    if (decision)
      return decision.accepted
        ? successResult({ approved: true, ...decision.input })
        : refusedResult("The user did not approve it.");
    // Its schema allows only JSON values.
    return { kind: "end", outcome: scheduleApproval(params as JsonObject, "schedule", turn.clock.now()) };
  },
});
