import { z } from "zod";
import { parseJson } from "../core/json.ts";
import { type PermissionRule, patternMax, readRules, rulesMax } from "../core/permissions/rule.ts";
import { defineVariable } from "./variable.ts";

const list = z.array(
  z.strictObject({
    tool: z.string(),
    pattern: z.string().optional(),
    decision: z.string(),
    each_time: z.boolean().optional(),
  }),
);

/** Rules for the agents of the whole installation. */
export const permissions = {
  PERMISSIONS: defineVariable({
    type: "JSON",
    fallback: "[]",
    rule: `a JSON list of at most ${rulesMax} rules, as documented in docs/guides/permissions.md: tool (a name or a glob), decision (allow, ask or deny), and optionally pattern (a glob of at most ${patternMax} characters) and each_time (only with ask)`,
    example: '[{"tool":"bash","pattern":"*sudo*","decision":"deny"}]',
    description:
      "Rules for uses of tools by model agents, in every space. The first rule that matches a use speaks; rules of profiles, projects and tasks can be stricter. [docs/guides/permissions.md](../guides/permissions.md) documents them.",
    schema: z.string().transform((text, context): readonly PermissionRule[] => {
      const parsed = list.safeParse(parseJson(text));
      try {
        if (parsed.success)
          return readRules(
            parsed.data.map(({ each_time: eachTime, ...rule }) => ({ ...rule, eachTime })),
            "PERMISSIONS",
          );
      } catch {
        // The problem of a setting names its rule, and not its value.
      }
      context.addIssue("not rules");
      return z.NEVER;
    }),
  }),
};
