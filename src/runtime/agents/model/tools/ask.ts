import type { Tool } from "../tool.ts";
import { createTool, successResult } from "./create-tool.ts";

interface QuestionInput {
  readonly question: string;
  readonly options?: readonly string[];
}

export const askUserName = "ask_user";

/** Asks the user a question, in an interactive task (spec/api.md 9.3, `messageAskUser`). */
export const askUser: Tool = createTool<QuestionInput>({
  name: askUserName,
  description:
    "Asks the user one question, which ends your turn. Only for what matters and what you cannot find out yourself.",
  properties: {
    question: { type: "string", minLength: 1, maxLength: 4_000 },
    options: {
      type: "array",
      maxItems: 10,
      items: { type: "string", minLength: 1, maxLength: 200 },
      description: "Likely answers.",
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
