import { Failure, type Reason } from "../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { PermissionUse } from "../../../../core/permissions/evaluate.ts";
import type { Confirm } from "../../../agent.ts";
import { conformsTo, type Tool, type ToolResult, type ToolUse, withoutLimits } from "../tool.ts";

export interface TypedTool<Input> {
  readonly name: string;
  readonly description: string;
  /** JSON Schemas by member; the input has no others. */
  readonly properties: { readonly [Name in keyof Required<Input>]: JsonObject };
  readonly required: readonly (keyof Input & string)[];
  /** As in `Tool`; true by default. */
  readonly repeats?: boolean;
  /** As in `Tool`. */
  readonly reads?: (input: JsonObject) => boolean;
  /** As in `Tool`. */
  readonly inParts?: true;
  /** As in `Tool`. */
  readonly permission?: (input: Input) => Partial<PermissionUse>;
  /** As in `Tool`. */
  readonly writes?: (input: JsonObject) => Json | undefined;
  /** As in `Tool`. */
  readonly approval?: (input: Input) => Omit<Confirm, "kind">;
  /** As in `Tool`. */
  readonly asksItself?: true;
  /** As in `Tool`. */
  readonly isForeign?: true | "subtasks";
  readonly brief: (input: Input) => string;
  readonly use: (input: Input, use: ToolUse) => Promise<ToolResult>;
}

/** The reasons of failures whose text the model may read; other failures are not shown to it. */
const shownReasons: ReadonlySet<Reason> = new Set([
  "invalid_argument",
  "not_found",
  "too_large",
  "resource_exhausted",
  "failed_precondition",
]);

/**
 * Turns a typed tool into a tool of the agent. A failure of the platform becomes a failed use with the
 * failure's text.
 */
export function createTool<Input>({
  name,
  description,
  properties,
  required,
  repeats = true,
  permission,
  approval,
  brief,
  use,
  ...members
}: TypedTool<Input>): Tool {
  const inputSchema: JsonObject = {
    type: "object",
    properties: { ...properties },
    required: [...required],
    additionalProperties: false,
  };
  function checkInput(input: JsonObject): Input {
    if (conformsTo<Input>(inputSchema, input)) return input;
    throw new Error(`the input of ${name} does not conform to its schema`);
  }
  return {
    name,
    description,
    inputSchema,
    shownSchema: withoutLimits(inputSchema),
    repeats,
    ...members,
    ...(permission && { permission: (input) => permission(checkInput(input)) }),
    ...(approval && { approval: (input) => approval(checkInput(input)) }),
    brief: (input) => brief(checkInput(input)),
    async use(using) {
      try {
        return await use(checkInput(using.input), using);
      } catch (thrown) {
        if (thrown instanceof Failure && shownReasons.has(thrown.reason)) return errorResult(thrown.message);
        throw thrown;
      }
    },
  };
}

export const successResult = (value: Json): ToolResult => ({ kind: "result", value });

/** The result of a failed use, with the reason. */
export const errorResult = (why: string): ToolResult => ({ kind: "result", value: why, isError: true });

/** The result of a use that a person or a rule has refused. */
export const refusedResult = (why: string): ToolResult => ({
  kind: "result",
  value: why,
  isError: true,
  isRefused: true,
});

export const pathSchema: JsonObject = { type: "string", minLength: 1, maxLength: 1_000 };

/** The schema of the position to continue reading from. */
export const fromSchema: JsonObject = {
  type: "integer",
  minimum: 0,
  description: "Where to continue: the `next` of the part before.",
};

/** The schema of a JSON Pointer. */
export const pointerSchema: JsonObject = {
  type: "string",
  maxLength: 1_000,
  description: "JSON only: a JSON Pointer to the value, /orders/3/total.",
};
