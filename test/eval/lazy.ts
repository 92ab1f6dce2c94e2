import type { EvalTask } from "../../eval/support/task.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { ModelRequest } from "../support/model/script.ts";
import { deliver, type Move, type Solver, write } from "./solver.ts";

/**
 * A model that claims what it has not done: it delivers a file of each name that the prompt demands, with a
 * claim in it, and returns a value of the right form.
 */
export function lazy({ prompt, schema }: EvalTask): Solver {
  const names = [...prompt.matchAll(/eliver[^.]*?`([\w-]+\.\w+)`/g)].flatMap(([, name]) => name ?? []);
  function* moves(): Generator<Move, void, ModelRequest> {
    if (names.length > 0) {
      yield names.map((name) => write(name, claim));
      yield [deliver(...names)];
    }
    for (;;) yield claim;
  }
  return { moves: moves(), value: schema === null ? {} : firstValue(schema) };
}

const claim = "Everything is done as you have asked, and checked: see http://localhost/.";

/** The first value that comes to mind. */
function firstValue(schema: JsonObject): Json {
  const type = [schema["type"]].flat()[0];
  if (type === "object")
    return Object.fromEntries(
      Object.entries(Object(schema["properties"])).map(([name, member]) => [
        name,
        firstValue(member as JsonObject),
      ]),
    );
  if (type === "array") return [firstValue(schema["items"] as JsonObject)];
  return type === "string" ? "done" : 1;
}
