import type { Json, JsonObject } from "../../../core/json.ts";
import { structuredResult } from "../../../core/structured-output/result.ts";
import type { Progress, Said } from "../../agent.ts";
import { Ended } from "./ended.ts";
import type { Run } from "./run.ts";
import { think } from "./think.ts";

/**
 * The value that an armed schema asks for (contract/v2.md 9.5), from the whole conversation: one try, and one to mend what
 * does not fit. Undefined when the model gives none: the answer stands all the same, and the extraction counts as failed.
 */
export async function* extract(run: Run, schema: JsonObject, answer: string): AsyncGenerator<Progress, Json | undefined, void> {
  const asked: Said = {
    role: "user",
    content: `Now give the value that your work came to, as JSON and nothing else. Its schema is: ${JSON.stringify(schema)}`,
  };
  let tail: readonly Said[] = [{ role: "assistant", content: answer }, asked];
  let value: Json | undefined;
  for (let tries = 0; tries < 2; tries += 1) {
    const text = yield* answerTo(run, tail, schema);
    if (text === undefined) return value;
    const found = jsonIn(text);
    value = found ?? value;
    if (structuredResult(schema, found).success) return found;
    const wrong = found === undefined ? "That is not JSON." : "That does not conform to the schema.";
    tail = [
      ...tail,
      { role: "assistant", content: text },
      { role: "user", content: `${wrong} Give the value again, as JSON and nothing else.` },
    ];
  }
  return value;
}

/** Undefined when no answer is to be had. */
async function* answerTo(run: Run, tail: readonly Said[], format: JsonObject): AsyncGenerator<Progress, string | undefined, void> {
  try {
    return (yield* think(run, { tail, format, quiet: true })).text;
  } catch (thrown) {
    if (thrown instanceof Ended) return undefined;
    throw thrown;
  }
}

/** The JSON in a text, which some models put between fences; undefined when there is none. */
function jsonIn(text: string): Json | undefined {
  const inner = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(text.trim())?.[1] ?? text;
  try {
    return JSON.parse(inner);
  } catch {
    return undefined;
  }
}
