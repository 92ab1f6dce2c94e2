import type { PermissionRule, PermissionRuleInput } from "../../packages/client/src/index.ts";
import { UsageError } from "../frame/failures.ts";
import { switchFlag, textsFlag } from "../frame/parameters.ts";

const form = "TOOL[:PATTERN]";
/** The flags that set rules for uses of tools. */
export const ruleFlags = {
  allow: textsFlag("Use of a tool that needs no approval; may be given several times", form),
  ask: textsFlag("Use of a tool that needs approval; may be given several times", form),
  deny: textsFlag("Use of a tool that is refused; may be given several times", form),
};
/** The flags that change the rules of something that exists. */
export const ruleEditFlags = { ...ruleFlags, "no-rules": switchFlag("Remove all rules") };
export interface RuleFlags {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

export interface RuleEditFlags extends RuleFlags {
  readonly "no-rules"?: boolean;
}

/**
 * The rules of the flags as a member of a request; empty without flags. The first rule that matches decides.
 *
 * @throws UsageError naming the flag
 */
export function rulesOf({ allow = [], ask = [], deny = [] }: RuleFlags): {
  readonly permissions?: PermissionRuleInput[];
} {
  const rule = (decision: "allow" | "ask" | "deny") => (text: string) => {
    const [, tool = "", pattern] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
    if (tool === "") throw new UsageError(`--${decision}: must be ${form}`);
    return { tool, ...(pattern ? { pattern } : {}), decision };
  };
  const permissions = [...deny.map(rule("deny")), ...ask.map(rule("ask")), ...allow.map(rule("allow"))];
  return permissions.length === 0 ? {} : { permissions };
}

/** The change of rules that the flags name, as members of a request. @throws UsageError naming the flag */
export function ruleEditOf(flags: RuleEditFlags): {
  readonly permissions?: PermissionRuleInput[];
  readonly clear_permissions?: true;
} {
  const rules = rulesOf(flags);
  if (!flags["no-rules"]) return rules;
  if (rules.permissions) throw new UsageError("--no-rules: cannot be given with --allow, --ask or --deny");
  return { clear_permissions: true };
}

/** One rule, as `atp` shows it. */
const ruleText = ({ tool, pattern, decision, each_time: eachTime }: PermissionRule): string =>
  `${decision}${eachTime ? " each time" : ""} ${tool}${pattern === "*" ? "" : `:${pattern}`}`;

/** Rules in one line; undefined without any. */
export const rulesText = (rules: readonly PermissionRule[] = []): string | undefined =>
  rules.map(ruleText).join(", ") || undefined;
