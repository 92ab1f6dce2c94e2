import type { MessageInitShape } from "@bufbuild/protobuf";
import { invalidArgument } from "../core/failure.ts";
import { type PermissionRule, permissionDecisions, readRules } from "../core/permissions/rule.ts";
import type { Tx } from "../core/store.ts";
import { permissionLevels, tasksAbove } from "../core/tasks/permission-levels.ts";
import type { Task } from "../core/tasks/task.ts";
import {
  PermissionDecisionSchema,
  type PermissionLevelSchema,
  type PermissionRule as PermissionRuleMessage,
  type PermissionRuleSchema,
  PermissionSourceSchema,
} from "../gen/proto/task/v2/permission_pb.ts";
import { enumConverter } from "./wire-values.ts";

const decisions = enumConverter(PermissionDecisionSchema, permissionDecisions);
const sources = enumConverter(PermissionSourceSchema, [
  "installation",
  "profile",
  "project",
  "parent",
  "task",
] as const);

/** The members of a request that sets rules. */
interface RulesRequest {
  readonly permissions: readonly PermissionRuleMessage[];
  readonly clearPermissions: boolean;
}

/** @throws Failure `invalid_argument` with the member at fault. */
export const rulesIn = ({ permissions }: Pick<RulesRequest, "permissions">): readonly PermissionRule[] =>
  readRules(
    permissions.map((rule) => ({ ...rule, decision: decisions.toName(rule.decision) ?? "" })),
    "permissions",
  );

/** The rules of an edit; empty when it does not change them. @throws Failure `invalid_argument` */
export function editedRules(request: RulesRequest): { readonly permissions?: readonly PermissionRule[] } {
  if (request.clearPermissions && request.permissions.length > 0)
    throw invalidArgument("permissions", "cannot be given with clear_permissions");
  if (!request.clearPermissions && request.permissions.length === 0) return {};
  return { permissions: rulesIn(request) };
}

export const toRules = (rules: readonly PermissionRule[]): MessageInitShape<typeof PermissionRuleSchema>[] =>
  rules.map(({ decision, ...rule }) => ({ ...rule, decision: decisions.toValue(decision) }));

/** The rules that hold for a task, by level: its own levels, and before them those of the tasks above it. */
export async function levelsInForce(
  tx: Pick<Tx, "agentProfiles" | "projects" | "tasks">,
  task: Task,
  installation: readonly PermissionRule[],
): Promise<MessageInitShape<typeof PermissionLevelSchema>[]> {
  const [own, above] = await Promise.all([permissionLevels(tx, task, installation), tasksAbove(tx, task)]);
  const parents = above.map(({ permissions }) => ({ source: "parent", rules: permissions }) as const);
  return [...parents.filter(({ rules }) => rules.length > 0), ...own].map(({ source, rules }) => ({
    source: sources.toValue(source),
    rules: toRules(rules),
  }));
}
