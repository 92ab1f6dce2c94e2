import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { countEqual } from "./cache.ts";
import type { ModelRequest, Reply } from "./script.ts";
import type { SharedTexts } from "./session-texts.ts";

/**
 * A request and its answer. The request has the first `keeps` characters of the one before it, and then
 * others.
 */
interface Exchange {
  readonly keeps: number;
  readonly adds: string;
  readonly answer: Reply;
}

/** A recorded session of a model: `test/sessions/NAME.jsonl`, an exchange in each line. */
export interface SessionFile {
  /** Answers the next request with its recorded answer, and refuses a request that differs in one byte. */
  readonly answer: (request: ModelRequest) => Reply;
  /**
   * Answers any request of the session with its recorded answer: for runs that repeat some. Refuses others.
   */
  readonly answerAgain: (request: ModelRequest) => Reply;
  /** Fails unless all requests were as recorded. */
  end(): void;
}

/** True when the sessions are recorded again. */
export const isNewRecording = process.env["UPDATE_GOLDEN"] === "1";

/** @param answers those of a new recording. */
export function openSession(name: string, answers: readonly Reply[], texts: SharedTexts): SessionFile {
  const file = new URL(`../../sessions/${name}.jsonl`, import.meta.url);
  const recorded: readonly Exchange[] = isNewRecording
    ? []
    : readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
  const seen: Exchange[] = [];
  let last = "";
  return {
    answer({ body }) {
      const text = texts.shorten(body);
      const keeps = countEqual(last, text);
      const answer = (isNewRecording ? answers : recorded.map((each) => each.answer))[seen.length];
      seen.push({ keeps, adds: text.slice(keeps), answer: answer ?? { text: "Enough." } });
      last = text;
      const expected = recorded[seen.length - 1];
      return answer && (isNewRecording || (expected?.keeps === keeps && expected.adds === text.slice(keeps)))
        ? answer
        : { status: 418 };
    },
    answerAgain({ body }) {
      const text = texts.shorten(body);
      let before = "";
      for (const { keeps, adds, answer } of recorded) {
        before = before.slice(0, keeps) + adds;
        if (before === text) return answer;
      }
      return { status: 418 };
    },
    end() {
      if (isNewRecording) {
        expect(seen.length, `the answers of ${name}`).toBe(answers.length);
        writeFileSync(file, seen.map((exchange) => `${JSON.stringify(exchange)}\n`).join(""));
      } else
        expect(
          seen,
          `the requests of test/sessions/${name}.jsonl; npm run sessions -- --update records them again`,
        ).toEqual(recorded);
    },
  };
}
