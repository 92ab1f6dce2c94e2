import type { PermissionRuleInput } from "../../packages/client/src/index.ts";
import { UsageError } from "../frame/failures.ts";
import { textsFlag } from "../frame/parameters.ts";

const form = "TOOL[:PATTERN]";
/** The flags that set rules for uses of tools. */
export const ruleFlags = {
  allow: textsFlag("Use of a tool that needs no approval; may be given several times", form),
  ask: textsFlag("Use of a tool that needs approval; may be given several times", form),
  deny: textsFlag("Use of a tool that is refused; may be given several times", form),
};
export interface RuleFlags {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
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
