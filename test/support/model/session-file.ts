import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import type { Answering, ModelRequest, Reply } from "./script.ts";

/**
 * A request and its answer. The request has the first `keeps` characters of the one before it, and then
 * others.
 */
interface Exchange {
  readonly keeps: number;
  readonly adds: string;
  readonly answer: Answering;
}

/** A recorded session of a model: `test/sessions/NAME.jsonl`, an exchange in each line. */
export interface SessionFile {
  /** Answers the next request with its recorded answer, and refuses a request that differs in one byte. */
  readonly answer: (request: ModelRequest) => Reply;
  /**
   * Fails unless all requests were as recorded. Returns the part of all requests but the first that was in
   * the request before.
   */
  end(): number;
}

/** A request as text, with the messages at its end: what was added is at the end too. */
function textOf({ body }: ModelRequest): string {
  const { messages = [], system = null, tools = [], ...others } = body;
  return JSON.stringify({ ...others, tools, system, messages });
}

function countEqual(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}

/** @param answers those of a new recording, which `UPDATE_GOLDEN=1` makes. */
export function openSession(name: string, answers: readonly Answering[]): SessionFile {
  const file = new URL(`../../sessions/${name}.jsonl`, import.meta.url);
  const isNew = process.env["UPDATE_GOLDEN"] === "1";
  const recorded: readonly Exchange[] = isNew
    ? []
    : readFileSync(file, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
  const seen: Exchange[] = [];
  let last = "";
  let total = 0;
  return {
    answer(request) {
      const text = textOf(request);
      const keeps = countEqual(last, text);
      const answer = (isNew ? answers[seen.length] : recorded[seen.length]?.answer) ?? { text: "Enough." };
      if (seen.length > 0) total += last.length;
      seen.push({ keeps, adds: text.slice(keeps), answer });
      last = text;
      const expected = recorded[seen.length - 1];
      return isNew || (expected?.keeps === keeps && expected.adds === text.slice(keeps))
        ? answer
        : { status: 418 };
    },
    end() {
      if (isNew) writeFileSync(file, seen.map((exchange) => `${JSON.stringify(exchange)}\n`).join(""));
      else
        expect(
          seen,
          `the requests of test/sessions/${name}.jsonl; UPDATE_GOLDEN=1 records them again`,
        ).toEqual(recorded);
      return seen.reduce((sum, { keeps }) => sum + keeps, 0) / Math.max(1, total);
    },
  };
}
