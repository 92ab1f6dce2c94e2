import type { Reply } from "../../../support/model/script.ts";
import { answerSessions } from "./answers.ts";
import { effectSessions } from "./effects.ts";
import { imageSessions } from "./images.ts";
import { longSessions } from "./long.ts";
import type { Session } from "./session.ts";
import { toolSessions } from "./tools.ts";

/** All recorded sessions. */
export const sessions: readonly Session[] = [
  ...longSessions,
  ...answerSessions,
  ...effectSessions,
  ...toolSessions,
  ...imageSessions,
];

/** The answers of a session with the tokens that its service reports. */
export function countedAnswers({ answers, growth = 200 }: Session): readonly Reply[] {
  let input = 5_000 - growth;
  return answers.map((answer) => {
    if ("status" in answer) return answer;
    input += growth;
    const given = "usage" in answer && answer.usage !== "counted" ? answer.usage : null;
    const usage = given ?? { input, output: 100 };
    input = usage.input;
    return { ...answer, usage };
  });
}
