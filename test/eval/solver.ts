import type { Json } from "../../src/core/json.ts";
import { summaryRequest } from "../../src/runtime/agents/model/request.ts";
import type { Answering, ModelRequest, Reply } from "../support/model/script.ts";

/** One step of a solver: uses of tools, or the answer that ends the turn. */
export type Move = readonly Use[] | string;

/** A use of a tool. */
export interface Use {
  readonly name: string;
  readonly input: Json;
}

/** A scripted model of one task: its steps in order, each computed from the request. */
export interface Solver {
  readonly moves: Generator<Move, void, ModelRequest>;
  /** The structured value. */
  readonly value?: Json;
}

const summary = "## Goal\nDo the work.\n## Next step\nGo on.";

/** Plays a solver. A request for a summary, or for the value, is not a step of it. */
export function playSolver({ moves, value = {} }: Solver): (request: ModelRequest) => Reply {
  return (request) => {
    const usage = { input: Math.ceil(JSON.stringify(request.body).length / 4), output: 20 };
    const last = request.messages.at(-1)?.text ?? "";
    if (last.endsWith(summaryRequest)) return { usage, text: summary };
    if (/JSON only\b/.test(last)) return { usage, text: JSON.stringify(value) };
    const { value: move } = moves.next(request);
    return { usage, ...answerOf(move ?? "I have nothing more to do.") };
  };
}

const answerOf = (move: Move): Answering => (typeof move === "string" ? { text: move } : { calls: move });

export const write = (path: string, content: string): Use => ({ name: "write", input: { path, content } });
export const deliver = (...paths: readonly string[]): Use => ({
  name: "deliver",
  input: { files: paths.map((path) => ({ path })) },
});
export const visit = (url: string, saveAs?: string): Use => ({
  name: "web_fetch",
  input: saveAs === undefined ? { url } : { url, save_as: saveAs },
});
/** The newest result of a tool. */
export const lastResult = ({ messages }: ModelRequest): string =>
  messages.findLast(({ role }) => role === "tool")?.text ?? "";
