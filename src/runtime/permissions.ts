import { atMost, evaluate, type PermissionVerdict } from "../core/permissions/evaluate.ts";
import type { PermissionRule } from "../core/permissions/rule.ts";
import type { Tx } from "../core/store.ts";
import { permissionLevels, tasksAbove } from "../core/tasks/permission-levels.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Turn } from "./agent.ts";

/**
 * Decides uses of tools in a task by the rules that are in force now, also by those of the tasks above it.
 * What a person always allows in the task answers also the rules of those.
 *
 * @param installation the setting PERMISSIONS.
 */
export const permitUses =
  (
    store: Pick<Tx, "tasks" | "agentProfiles" | "projects">,
    claimed: Task,
    installation: readonly PermissionRule[],
  ): NonNullable<Turn["permit"]> =>
  async (use, more = []) => {
    const own = (await store.tasks.byId(claimed.id)) ?? claimed;
    async function decideFor(task: Task): Promise<PermissionVerdict> {
      const allowed = [...task.allowed, ...own.allowed];
      return evaluate([...(await permissionLevels(store, { ...task, allowed }, installation)), ...more], use);
    }
    const verdicts = await Promise.all([own, ...(await tasksAbove(store, own))].map(decideFor));
    return verdicts.reduce(atMost);
  };
