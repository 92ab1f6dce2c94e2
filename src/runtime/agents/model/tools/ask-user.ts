import type { Tool } from "../tool.ts";
import { given, toolOf } from "./tool-of.ts";

interface Input {
  readonly question: string;
  readonly options?: readonly string[];
}

/** Asks the user, where somebody answers (contract/v2.md 9.3, `messageAskUser`). */
export const askUser: Tool = toolOf<Input>({
  name: "ask_user",
  description:
    "Asks the user one question and waits for the answer. Only for what matters and what you cannot find out yourself. Your turn ends with it, so use no other tool beside it.",
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
      return given("Nobody answers questions here. Take the likeliest meaning, do your best, and say what you assumed.");
    return { kind: "end", outcome: { kind: "ask", content: question, options, memo: null } };
  },
});
