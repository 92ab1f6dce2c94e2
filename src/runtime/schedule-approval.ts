import type { JsonObject } from "../core/json.ts";
import { readProposal } from "../core/schedules/proposal.ts";
import type { Outcome } from "./agent.ts";

/**
 * The request for the approval of a schedule. The decision that accepts it creates the schedule.
 *
 * @param path the field that error texts name.
 * @throws Failure `invalid_argument` for settings that schedule.create refuses.
 */
export const scheduleApproval = (
  params: JsonObject,
  path: string,
  now: number,
): Extract<Outcome, { kind: "confirm" }> => ({
  kind: "confirm",
  action: "scheduleCreate",
  variant: "",
  ...readProposal(params, path, now),
});
