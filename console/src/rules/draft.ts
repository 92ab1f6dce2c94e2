import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  PermissionDecision,
  type PermissionRule,
  PermissionRuleSchema,
} from "#proto/task/v2/permission_pb.ts";
import { type Choice, text } from "./words.ts";

/** The members of a rule that the console reads and writes. */
export type Rule = Pick<PermissionRule, "tool" | "pattern" | "decision" | "eachTime">;

/** A rule in the form. Its key stays when the rule moves. */
export interface RuleDraft {
  readonly key: number;
  readonly tool: string;
  /** Empty for everything. */
  readonly pattern: string;
  readonly choice: Choice;
}

let made = 0;
const nextKey = (): number => {
  made += 1;
  return made;
};

const byDecision: Readonly<Partial<Record<PermissionDecision, Choice>>> = {
  [PermissionDecision.ALLOW]: "allow",
  [PermissionDecision.ASK]: "ask",
  [PermissionDecision.DENY]: "deny",
};
const decisions: Readonly<Record<Choice, PermissionDecision>> = {
  allow: PermissionDecision.ALLOW,
  ask: PermissionDecision.ASK,
  each: PermissionDecision.ASK,
  deny: PermissionDecision.DENY,
};

export const choiceOf = ({ decision, eachTime }: Rule): Choice =>
  eachTime ? "each" : (byDecision[decision] ?? "ask");

export const newRule = (): RuleDraft => ({ key: nextKey(), tool: "bash", pattern: "", choice: "ask" });

export const draftsOf = (rules: readonly Rule[]): readonly RuleDraft[] =>
  rules.map((rule) => ({
    key: nextKey(),
    tool: rule.tool,
    pattern: rule.pattern === "*" ? "" : rule.pattern,
    choice: choiceOf(rule),
  }));

export const rulesIn = (drafts: readonly RuleDraft[]): PermissionRule[] =>
  drafts.map(({ tool, pattern, choice }) =>
    create(PermissionRuleSchema, {
      tool: tool.trim(),
      pattern: pattern.trim(),
      decision: decisions[choice],
      eachTime: choice === "each",
    }),
  );

/** The members of an update; empty when nothing was changed. */
export function ruleEdit(drafts: readonly RuleDraft[], before: readonly Rule[]) {
  const rules = rulesIn(drafts);
  if (JSON.stringify(rules) === JSON.stringify(rulesIn(draftsOf(before)))) return {};
  return rules.length === 0 ? { clearPermissions: true } : { permissions: rules };
}

/** What a refusal says about a rule; undefined for a refusal of something else. */
export function ruleFaultOf(error: unknown) {
  if (error === null || error === undefined) return undefined;
  const { rawMessage } = ConnectError.from(error);
  const [, at, field = "decision"] = /permissions\[(\d+)\](?:\.(\w+))?/.exec(rawMessage) ?? [];
  if (at === undefined) return undefined;
  return { at: Number(at), field, text: text.faults[field] ?? rawMessage };
}
