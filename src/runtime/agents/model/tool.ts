import type { ValidateFunction } from "ajv";
import { lazy, lazyPackage } from "../../../async/lazy.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { PermissionUse } from "../../../core/permissions/evaluate.ts";
import type { Confirm, Decision, NewFile, NewSite, Outcome, Turn } from "../../agent.ts";
import type { Subtask } from "../../agent-subtasks.ts";
import type { ImageSource } from "./images/source.ts";

/** A request that a use is about to send. */
export interface PlannedRequest {
  /** The address before, which redirects to this one; absent for the first one. */
  readonly from?: URL;
  /**
   * What is typed into the page at the address. It needs an approval on each host that is not listed: no
   * message and no page can have it.
   */
  readonly text?: string;
}

/**
 * Checks a request before it is sent. @throws Unapproved when the user has to approve it, or has refused it,
 * or it is forbidden.
 */
export type CheckRequest = (url: URL, planned?: PlannedRequest) => Promise<void>;

export type ToolResult =
  /**
   * Data for the model, never an instruction. With `isError` the use failed, and `value` has the reason
   * without internals.
   */
  | {
      readonly kind: "result";
      readonly value: Json;
      readonly isError?: boolean;
      /** True when a person or a rule has refused the use. It is an error too. */
      readonly isRefused?: boolean;
      /** The rule that allowed the use. */
      readonly allowedBy?: string;
      readonly files?: readonly NewFile[];
      /** Pictures of the result, for a model that takes images. */
      readonly images?: readonly ImageSource[];
      readonly subtask?: Subtask;
      readonly site?: NewSite;
    }
  /**
   * The run ends here. After a confirmation the use is repeated, with the decision, and after a wait for
   * subtasks too. A question begins another turn.
   */
  | { readonly kind: "end"; readonly outcome: Extract<Outcome, { kind: "ask" | "confirm" | "wait" }> };

export interface ToolUse {
  /** The same each time the turn resumes. */
  readonly callId: string;
  readonly input: JsonObject;
  readonly turn: Turn;
  /** The user's decisions on this use's approval requests, in the order of the requests; empty at first. */
  readonly decisions: readonly Decision[];
  /** The number of waits for subtasks that came before this use in its turn. */
  readonly waitsBefore: number;
  /** A tool that sends a request to an address that the model chose calls it first. */
  readonly check: CheckRequest;
  /** With `asksItself`: a rule wants a person to decide this use. */
  readonly asks: boolean;
  /**
   * A tool that does not repeat calls it before its effect: a use that was lost after that is not repeated.
   */
  readonly begin: () => Promise<void>;
  /** The names of all tools of the run. */
  readonly tools: readonly string[];
}

/**
 * A tool of the model agent.
 *
 * A use is complete when its result is written. A use that waits for a decision is repeated with the same
 * `callId` and input. One that was lost with its run is repeated too if the tool says that it `repeats` or if
 * it had not begun; else its effect happens at most once, and the model reads that. To the model an error that a
 * use throws is a failed use without the error's text. A Failure `unavailable` ends the run, which is
 * retried.
 */
export interface Tool {
  /** Snake case, the same in the events. */
  readonly name: string;
  /** For the model: what the tool does, when to use it, what it returns. */
  readonly description: string;
  /** The JSON Schema of the input, an object. The input is validated before `use`. */
  readonly inputSchema: JsonObject;
  /** The part of the schema that the model gets: each call has it. Absent: all of it. */
  readonly shownSchema?: JsonObject;
  /**
   * True when a use can be repeated: it reads, or its effect is written with its result. Others call `begin`
   * before their effect.
   */
  readonly repeats: boolean;
  /** Whether a use with this input only reads: such uses of one step run at the same time. Absent: never. */
  readonly reads?: (input: JsonObject) => boolean;
  /**
   * Its results are parts of something that the agent can read again: the model gets them as they are, up to
   * 32,000 characters. Longer results than 8,000 of other tools are cut, and kept in `.results/`.
   */
  readonly inParts?: true;
  /**
   * How rules see a use, as far as it is not this: the tool's name, the path of the input as the subject, and
   * no effect outside of the workspace.
   */
  readonly permission?: (input: JsonObject) => Partial<PermissionUse>;
  /** The path of the file that a use changes: rules for `write` are for it too. */
  readonly writes?: (input: JsonObject) => Json | undefined;
  /** The request for a use that a rule asks about; absent: of the kind `agentToolAction`, with the input. */
  readonly approval?: (input: JsonObject) => Omit<Confirm, "kind">;
  /** True for a tool that requests the approval of its uses itself. Denied uses do not reach it. */
  readonly asksItself?: true;
  /**
   * Results have data that neither the user nor the agent wrote: a use marks the task as untrusted.
   * `subtasks`: if one of its subtasks is untrusted.
   */
  readonly isForeign?: true | "subtasks";
  /** The connector whose tool it is: its name, and what its server says about the tool. */
  readonly connector?: { readonly name: string; readonly description: string };
  /** A short text for users about the use, without secrets. */
  readonly brief: (input: JsonObject) => string;
  readonly use: (use: ToolUse) => Promise<ToolResult>;
}

/** Returns the tools of a turn. Some are available only when the operator or the task allows them. */
export type ToolsFor = (turn: Turn) => readonly Tool[];

const ajvPackage = lazyPackage<typeof import("ajv")>("ajv");
const ajv = lazy(
  () => new (ajvPackage().Ajv)({ strict: false, allErrors: false, ownProperties: true, logger: false }),
);
/** Validators by schema object: there are as many as tools. */
const validators = new WeakMap<JsonObject, ValidateFunction>();

function validatorOf(schema: JsonObject): ValidateFunction {
  const validate = validators.get(schema) ?? ajv().compile(schema);
  validators.set(schema, validate);
  // Ajv would keep every schema permanently, but schemas of connectors change.
  ajv().removeSchema(schema);
  return validate;
}

/** True when a value conforms to a JSON Schema. `T` is the type that the schema describes. */
export const conformsTo = <T>(schema: JsonObject, value: unknown): value is T => validatorOf(schema)(value);

/** Describes for the model why an input does not conform; null when it conforms. */
export function describeMismatch(schema: JsonObject, input: JsonObject): string | null {
  const validate = validatorOf(schema);
  return validate(input)
    ? null
    : `The input does not fit: ${ajv().errorsText(validate.errors, { dataVar: "input" })}.`;
}

const limits: ReadonlySet<string> = new Set(
  "minLength maxLength minItems maxItems uniqueItems minimum maximum additionalProperties".split(" "),
);

/** A schema without its limits: a model cannot count, and an error names the limit that it exceeds. */
export const withoutLimits = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !limits.has(name) && !(Array.isArray(value) && value.length === 0))
      .map(([name, value]) => {
        if (!isObject(value)) return [name, value];
        const inner = Object.entries(value).map(([member, one]) => [
          member,
          isObject(one) ? withoutLimits(one) : one,
        ]);
        return [name, name === "properties" ? Object.fromEntries(inner) : withoutLimits(value)];
      }),
  );

/** The most characters of JSON of a tool's result in its event. */
const resultMax = 32_000;
/** The most characters of each text of a tool's input in its event. */
const textMax = 4_000;

/** A tool's result for its event and for the model: the full value, or its beginning. */
export function boundResult(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= resultMax) return value;
  return {
    beginning: head(text, resultMax),
    characters: text.length,
    note: "Too long to show in full. Request a part of it.",
  };
}

/** A tool's input for its event: long texts are cut. */
export const boundInput = (input: JsonObject): JsonObject =>
  // The result of cutting an object is an object.
  cut(input, 0) as JsonObject;

function cut(value: Json, depth: number): Json {
  if (typeof value === "string")
    return value.length <= textMax ? value : `${head(value, textMax)} … (${value.length} characters)`;
  if (value === null || typeof value !== "object") return value;
  if (depth >= 20) return "…";
  if (Array.isArray(value)) return value.slice(0, 200).map((item) => cut(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 200)
      .map(([name, item]) => [name, cut(item, depth + 1)]),
  );
}

/** The beginning of a text, without half of a surrogate pair at its end. */
export const head = (text: string, max: number): string => text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
