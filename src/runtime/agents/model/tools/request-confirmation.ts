import { isQuestion, type KindName, kindOf, kinds, variantsOf } from "../../../../core/actions/kind.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Tool } from "../tool.ts";
import { given, refused, toolOf } from "./tool-of.ts";

interface Input {
  readonly kind: KindName;
  readonly variant?: string;
  readonly description: string;
  readonly params?: JsonObject;
}

const paramsMax = 20_000;

/**
 * Kinds that a model may ask approval for. Commands are approved where they are run, so that no approval is had for
 * something else; a secret that a user gives must not reach a model.
 */
const requestable: readonly KindName[] = Object.keys(kinds)
  // The keys of a record of kinds are kinds.
  .map((name) => name as KindName)
  .filter((name) => !isQuestion(name) && name !== "terminalExecute" && kindOf(name).secret === undefined);

/** Asks for an approval (contract/v2.md 9.3); the same turn goes on with the decision. */
export const requestConfirmation: Tool = toolOf<Input>({
  name: "request_confirmation",
  description:
    "Asks the user to approve an action before it is done, and waits for the decision. An approval holds for this action alone. Use no other tool beside it.",
  properties: {
    kind: { type: "string", enum: [...requestable] },
    variant: { type: "string", maxLength: 50, description: "Only for webdevRunAction: run or deploy." },
    description: { type: "string", minLength: 1, maxLength: 2_000, description: "What is to be approved, whole and plain." },
    params: { type: "object", description: "What the action would be given, mails in `messages` for instance." },
  },
  required: ["kind", "description"],
  brief: ({ kind }) => `Ask for approval: ${kind}`,
  async use({ kind, variant = "", description, params }, { decisions: [decision] }) {
    if (decision) return decision.accepted ? given({ approved: true, ...decision.input }) : refused("The user did not approve it.");
    const variants = variantsOf(kind);
    if (variant !== "" && !variants.includes(variant)) return refused("There is no such variant of this kind.");
    if (JSON.stringify(params ?? {}).length > paramsMax) return refused(`params must have at most ${paramsMax} characters of JSON.`);
    const chosen = variant === "" ? (variants[0] ?? "") : variant;
    const asked = { kind: "confirm", action: kind, variant: chosen, description, ...(params ? { params } : {}) } as const;
    return { kind: "end", outcome: asked };
  },
});
