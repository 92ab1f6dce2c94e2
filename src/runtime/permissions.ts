import { grantsOf } from "../core/actions/action.ts";
import { evaluate, type PermissionLevel, withGrants } from "../core/permissions/evaluate.ts";
import type { PermissionRule } from "../core/permissions/rule.ts";
import type { Tx } from "../core/store.ts";
import type { Turn } from "./agent.ts";

/**
 * Decides uses of tools in a task by the rules that are in force now.
 *
 * @param installation the setting PERMISSIONS.
 */
export const permitUses =
  (
    store: Pick<Tx, "tasks">,
    taskId: string,
    installation: readonly PermissionRule[],
  ): NonNullable<Turn["permit"]> =>
  async (use, more = []) => {
    const task = await store.tasks.byId(taskId);
    const rules = withGrants([], grantsOf(task?.allowed ?? []));
    const levels: readonly PermissionLevel[] = [
      { source: "installation", rules: installation },
      ...more,
      { source: "task", rules },
    ];
    return evaluate(levels, use);
  };
