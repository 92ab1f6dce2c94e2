import { Failure } from "../failure.ts";
import type { JsonObject } from "../json.ts";
import { proposedSettings } from "../schedules/proposal.ts";
import type { Schedule } from "../schedules/schedule.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { actFor } from "./act-for-schedule.ts";
import type { Schedules } from "./manage-schedules.ts";

/**
 * Creates the schedule that the agent of a task has proposed. It belongs to the account, space and app of the
 * task, with the rights that they have now.
 *
 * @throws Failure `failed_precondition` when the app may not act for the user, and for a time that has
 * passed; those of schedule.create.
 */
export async function createProposed(
  tx: Tx,
  schedules: Pick<Schedules, "create">,
  task: Task,
  params: JsonObject,
): Promise<Schedule> {
  const acting = await actFor(tx, task);
  if ("ended" in acting)
    throw new Failure("failed_precondition", `the schedule cannot be created: ${acting.ended}`);
  try {
    return await schedules.create(tx, acting.caller, proposedSettings(params));
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "invalid_argument")
      throw new Failure("failed_precondition", `the schedule cannot be created: ${thrown.message}`);
    throw thrown;
  }
}
