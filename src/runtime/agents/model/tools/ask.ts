import { isQuestion, type KindName, kindOf, kinds, variantsOf } from "../../../../core/actions/kind.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Tool } from "../tool.ts";
import { createTool, errorResult, refusedResult, successResult } from "./create-tool.ts";

interface ConfirmationInput {
  readonly kind: KindName;
  readonly variant?: string;
  readonly description: string;
  readonly params?: JsonObject;
}

const paramsMax = 20_000;

/**
 * Kinds for which a model may request approval. Commands and requests to addresses are approved by the tools
 * that run and send them, so that an approval is for exactly that command or address, and schedules have a
 * tool too. Kinds with a secret are excluded, because a user's secret must not reach a model.
 */
const ofTools: readonly KindName[] = ["terminalExecute", "fetchUrl", "scheduleCreate"];
const requestable: readonly KindName[] = Object.keys(kinds)
  // `Object.keys` returns strings; the keys of `kinds` are kinds.
  .map((name) => name as KindName)
  .filter((name) => !isQuestion(name) && !ofTools.includes(name) && kindOf(name).secret === undefined);

/** Requests an approval (spec/api.md 9.3). The same turn continues with the decision. */
export const requestConfirmation: Tool = createTool<ConfirmationInput>({
  name: "request_confirmation",
  description:
    "Asks the user to approve an action before it is done, and waits for the decision. An approval holds for this action alone.",
  properties: {
    kind: { type: "string", enum: [...requestable] },
    variant: { type: "string", maxLength: 50, description: "Only for webdevRunAction: run or deploy." },
    description: {
      type: "string",
      minLength: 1,
      maxLength: 2_000,
      description: "A complete, plain description of what is to be approved.",
    },
    params: { type: "object", description: "The parameters of the action, for example mails in `messages`." },
  },
  required: ["kind", "description"],
  brief: ({ kind }) => `Ask for approval: ${kind}`,
  async use({ kind, variant = "", description, params }, { decisions: [decision] }) {
    if (decision)
      return decision.accepted
        ? successResult({ approved: true, ...decision.input })
        : refusedResult("The user did not approve it.");
    const variants = variantsOf(kind);
    if (variant !== "" && !variants.includes(variant))
      return errorResult("There is no such variant of this kind.");
    if (JSON.stringify(params ?? {}).length > paramsMax)
      return errorResult(`params must have at most ${paramsMax} characters of JSON.`);
    const kindVariant = variant === "" ? (variants[0] ?? "") : variant;
    const outcome = {
      kind: "confirm",
      action: kind,
      variant: kindVariant,
      description,
      ...(params ? { params } : {}),
    } as const;
    return { kind: "end", outcome };
  },
});

interface QuestionInput {
  readonly question: string;
  readonly options?: readonly string[];
}

export const askUserName = "ask_user";

/** Asks the user a question, in an interactive task (spec/api.md 9.3, `messageAskUser`). */
export const askUser: Tool = createTool<QuestionInput>({
  name: askUserName,
  description:
    "Asks the user one question and waits for the answer. Only for what matters and what you cannot find out yourself. Your turn ends with it.",
  properties: {
    question: { type: "string", minLength: 1, maxLength: 4_000 },
    options: {
      type: "array",
      maxItems: 10,
      items: { type: "string", minLength: 1, maxLength: 200 },
      description: "Likely answers; the user may answer something else.",
    },
  },
  required: ["question"],
  brief: () => "Ask the user",
  async use({ question, options = [] }, { turn }) {
    if (!turn.interactive)
      return successResult(
        "Questions are not answered in this task. Assume the most likely meaning, do your best, and say what you assumed.",
      );
    return { kind: "end", outcome: { kind: "ask", content: question, options, memo: null } };
  },
});
