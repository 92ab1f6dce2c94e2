import { compileTextGlob } from "../linear-pattern.ts";
import { type PermissionDecision, type PermissionRule, permissionDecisions } from "./rule.ts";
import { currentName } from "./tool-names.ts";

/** Who has set rules, the most general first. */
export type PermissionSource = "installation" | "profile" | "project" | "task";

/** Rules of one source. Within it the first rule that matches a use speaks. */
export interface PermissionLevel {
  readonly source: PermissionSource;
  readonly rules: readonly PermissionRule[];
}

/** A use of a tool, as rules see it. */
export interface PermissionUse {
  /** The tool's name for rules: `bash`, `web_fetch`, `connector.github`. */
  readonly tool: string;
  /**
   * What it acts on, in each spelling: a host also with its port. A rule matches one of them. None: only rules
   * for everything match.
   */
  readonly subjects: readonly string[];
  /** True for an effect outside of the workspace: without any rule a person is asked. */
  readonly isEffect: boolean;
  /** True for a command line that can run more than one command: an `allow` has to match it literally. */
  readonly isCompound?: boolean;
  /** A tool whose rules do not count: they have been asked about the same subjects. */
  readonly besides?: string;
}

/** What holds for a use, and which rule says so. */
export interface PermissionVerdict {
  readonly decision: PermissionDecision;
  /** Absent: no rule speaks. */
  readonly by?: { readonly source: PermissionSource; readonly rule: PermissionRule };
}

/** The name of a tool for rules: they may have its former one. */
const ruleTool = (name: string): string => (name === "run_command" ? "bash" : currentName(name));

const globMatches = (glob: string, text: string): boolean => compileTextGlob(glob)(text);

const isForTool = (rule: Pick<PermissionRule, "tool">, tool: string): boolean =>
  globMatches(ruleTool(rule.tool), ruleTool(tool));

/** Whether a rule is about a use. */
function ruleMatches(rule: PermissionRule, use: PermissionUse): boolean {
  const { pattern, decision } = rule;
  if (!isForTool(rule, use.tool) || (use.besides && isForTool(rule, use.besides))) return false;
  if (pattern === "*") return true;
  if (decision === "allow" && use.isCompound) return use.subjects.includes(pattern);
  // Subjects that are hosts are in lower case.
  const wanted = ruleTool(use.tool) === "web_fetch" ? pattern.toLowerCase() : pattern;
  return use.subjects.some((subject) => globMatches(wanted, subject));
}

/**
 * Decides a use. Of the levels that speak the strictest counts; if none does, reads and writes in the
 * workspace are allowed, and effects outside of it ask. An `allow` of the task, which only a person with the
 * right to decide can grant, answers an `ask` of every level in advance, unless that asks each time. Nothing
 * answers a `deny`.
 */
export function evaluate(levels: readonly PermissionLevel[], use: PermissionUse): PermissionVerdict {
  const spoken = levels.flatMap(({ source, rules }) => {
    const rule = rules.find((each) => ruleMatches(each, use));
    return rule ? [{ source, rule }] : [];
  });
  const saying = (decision: PermissionDecision) => spoken.filter(({ rule }) => rule.decision === decision);
  const [denies, asks, allows] = [saying("deny"), saying("ask"), saying("allow")];
  const granted = allows.find(({ source }) => source === "task");
  const by = denies[0] ?? asks.find(({ rule }) => rule.eachTime) ?? granted ?? asks[0] ?? allows[0];
  return by ? { decision: by.rule.decision, by } : { decision: use.isEffect ? "ask" : "allow" };
}

/** The stricter of two verdicts: a subtask has at most its parent's rights. */
export const atMost = (own: PermissionVerdict, ofParent: PermissionVerdict): PermissionVerdict =>
  permissionDecisions.indexOf(ofParent.decision) > permissionDecisions.indexOf(own.decision) ? ofParent : own;

/** Names the rule that allowed a use: `task: bash git *`. Undefined: no rule had to. */
export const allowedBy = ({ decision, by }: PermissionVerdict): string | undefined =>
  decision === "allow" && by ? `${by.source}: ${by.rule.tool} ${by.rule.pattern}` : undefined;

/**
 * The rules of a task with what a person has always allowed in it: each allowance answers the rules that ask,
 * but none that denies or asks each time.
 */
export const withGrants = (
  rules: readonly PermissionRule[],
  grants: readonly Pick<PermissionRule, "tool" | "pattern">[],
): readonly PermissionRule[] => grants.reduce(addGrant, rules);

/** @param pattern `*`, or a text without wildcards: so it and another pattern have a pattern in common. */
function addGrant(
  rules: readonly PermissionRule[],
  { tool, pattern }: Pick<PermissionRule, "tool" | "pattern">,
): readonly PermissionRule[] {
  const allow = (of: string): PermissionRule => ({ tool, pattern: of, decision: "allow", eachTime: false });
  const answered = rules.flatMap((rule) => {
    if (rule.decision !== "ask" || rule.eachTime || !isForTool(rule, tool)) return [rule];
    if (pattern === "*") return [allow(rule.pattern), rule];
    return globMatches(rule.pattern, pattern) ? [allow(pattern), rule] : [rule];
  });
  return [...answered, allow(pattern)];
}
