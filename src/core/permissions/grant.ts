import { type Caller, dangerousScope } from "../accounts/caller.ts";
import { Failure } from "../failure.ts";
import { type PermissionRule, strictnessOf } from "./rule.ts";

/**
 * Whether a caller has the right to decide approvals: by a session or a key, unless the person is a guest or
 * the key has scopes without `task:approve`; by a token with `approve:task` of an app that acts for its user.
 */
export function mayGrant({ credential, role }: Pick<Caller, "credential" | "role">): boolean {
  if (role === "guest") return false;
  if (credential.kind === "token") return !credential.service && credential.scopes.includes(dangerousScope);
  if (credential.kind === "key") return credential.scopes?.includes("task:approve") ?? true;
  return credential.kind === "session";
}

/**
 * Checks that a caller may replace these rules. Without the right to decide approvals, a caller can only put
 * rules before them: `deny`, or `ask` where no present rule is stricter.
 *
 * @throws Failure `permission_denied` with the rule at fault: `permissions[0].decision`.
 */
export function checkMayGrant(
  caller: Pick<Caller, "credential" | "role">,
  before: readonly PermissionRule[],
  after: readonly PermissionRule[],
): void {
  if (mayGrant(caller)) return;
  const added = after.slice(0, Math.max(0, after.length - before.length));
  const loose = added.findIndex(({ decision }) => decision === "allow");
  if (loose >= 0) throw refusal(`permissions[${loose}].decision`, "allow");
  if (!isEqual(after.slice(added.length), before))
    throw refusal("permissions", "to change or remove a rule that is set");
  const looser = added.findIndex((rule) => before.some((set) => strictnessOf(set) > strictnessOf(rule)));
  if (looser >= 0) throw refusal(`permissions[${looser}].decision`, "ask before a stricter rule");
}

/**
 * Checks that a caller may take the rules of a project from its tasks. What they allow needs no right.
 *
 * @param path the member that does so, for the failure.
 * @throws Failure `permission_denied`.
 */
export function checkMayLose(
  caller: Pick<Caller, "credential" | "role">,
  { permissions }: { readonly permissions: readonly PermissionRule[] },
  path: string,
): void {
  if (permissions.some(({ decision }) => decision !== "allow") && !mayGrant(caller))
    throw refusal(path, "to remove the rules of a project");
}

const isEqual = (some: readonly PermissionRule[], others: readonly PermissionRule[]): boolean =>
  JSON.stringify(some.map(ruleText)) === JSON.stringify(others.map(ruleText));

const refusal = (path: string, what: string): Failure =>
  new Failure(
    "permission_denied",
    `${path}: ${what} needs the right to decide approvals: a session of a person who is not a guest, an API key with task:approve, or a token with approve:task`,
    { path },
  );

/** `deny run_command rm *`, as people and the audit log read a rule. */
const ruleText = ({ tool, pattern, decision, eachTime }: PermissionRule): string =>
  `${decision}${eachTime ? " each time" : ""} ${tool} ${pattern}`;

/** The rules of an object as a fact of the audit log. */
export const auditedRules = ({ permissions }: { readonly permissions: readonly PermissionRule[] }) => ({
  permissions: permissions.map(ruleText),
});
