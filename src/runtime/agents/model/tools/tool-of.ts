import { Failure, type Reason } from "../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { Tool, ToolResult, ToolUse } from "../tool.ts";

/** A tool whose input has a type of its own. */
export interface ToolWith<Input> {
  readonly name: string;
  readonly description: string;
  /** JSON Schemas by member; the input has no others. */
  readonly properties: { readonly [Name in keyof Required<Input>]: JsonObject };
  readonly required: readonly (keyof Input & string)[];
  readonly brief: (input: Input) => string;
  readonly use: (input: Input, use: ToolUse) => Promise<ToolResult>;
}

/** Refusals whose text is for the model too; any other failure is none of its business. */
const told: ReadonlySet<Reason> = new Set(["invalid", "absent", "too_large", "exhausted", "precondition"]);

/** A tool as the agent knows it. A refusal of the platform is a use that failed, in the refusal's own words. */
export function toolOf<Input>({ name, description, properties, required, brief, use }: ToolWith<Input>): Tool {
  // The schema has let nothing else in.
  const typed = (input: JsonObject) => input as unknown as Input;
  return {
    name,
    description,
    inputSchema: { type: "object", properties: { ...properties }, required: [...required], additionalProperties: false },
    brief: (input) => brief(typed(input)),
    async use(using) {
      try {
        return await use(typed(using.input), using);
      } catch (thrown) {
        if (thrown instanceof Failure && told.has(thrown.reason)) return refused(thrown.message);
        throw thrown;
      }
    },
  };
}

/** What a use gives. */
export const given = (value: Json): ToolResult => ({ kind: "result", value });

/** A use that failed, and why. */
export const refused = (why: string): ToolResult => ({ kind: "result", value: why, isError: true });

/** The schema of a path in the workspace. */
export const pathSchema: JsonObject = {
  type: "string",
  minLength: 1,
  maxLength: 1_000,
  description: "Path of a file in the workspace, relative, with / between its parts: notes/draft.md for instance.",
};

/** The schema of where to go on reading. */
export const fromSchema: JsonObject = {
  type: "integer",
  minimum: 0,
  description: "Where to go on: the `next` of the part before. Leave it out to begin at the start.",
};

/** The schema of a JSON Pointer. */
export const pointerSchema: JsonObject = {
  type: "string",
  maxLength: 1_000,
  description: "JSON files only: a JSON Pointer (/orders/3/total) to the value that you want. Leave it out for the whole.",
};
