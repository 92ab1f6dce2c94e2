import type { JsonObject, JsonValue } from "../json.ts";
import { toWire } from "./convert.ts";
import { fault } from "./place.ts";

/**
 * A validator of the Standard Schema interface: zod, valibot, arktype and others
 * (https://standardschema.dev).
 */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/**
 * A validator that also has a JSON Schema: zod 4.2 or newer, arktype, valibot by `toStandardJsonSchema`
 * (https://standardschema.dev/json-schema).
 */
export interface OutputSchema<Output> extends StandardSchema<Output> {
  readonly "~standard": StandardSchema<Output>["~standard"] & {
    readonly jsonSchema: {
      readonly input: (options: {
        readonly target: "draft-2020-12";
        readonly libraryOptions?: Record<string, unknown> | undefined;
      }) => Record<string, unknown>;
    };
  };
}

/** What reads a structured output: a Standard Schema, or a function that returns the value or throws. */
export type OutputReader<Output> = StandardSchema<Output> | ((value: JsonValue) => Output);

/**
 * The `structured_output_schema` of a validator. Annotations are left out, bounds become words of
 * descriptions, and a member that may be absent may be null.
 *
 * @throws TypeError with the path of what the platform does not take.
 */
export const outputSchema = (schema: OutputSchema<unknown>): JsonObject => wireOf(schema).wire;

function wireOf(schema: StandardSchema<unknown>): ReturnType<typeof toWire> {
  const { jsonSchema } = (schema as Partial<OutputSchema<unknown>>)?.["~standard"] ?? {};
  if (!jsonSchema)
    throw fault("", "this validator has no JSON Schema; use structured_output_schema and result(validator)");
  // zod: what has no JSON Schema becomes an empty one, so that its path is known here.
  return toWire(jsonSchema.input({ target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } }));
}

/** The value without the nulls of absent members; as it is when the validator has no schema for the wire. */
function restored(schema: StandardSchema<unknown>, value: JsonValue): JsonValue {
  try {
    return wireOf(schema).restore(value);
  } catch {
    return value;
  }
}

const isFunction = <Output>(reader: OutputReader<Output>): reader is (value: JsonValue) => Output =>
  typeof reader === "function" && !("~standard" in reader);

/** Whether an argument is a reader, and not options. */
export const isReader = (value: unknown): value is OutputReader<unknown> =>
  typeof value === "function" || (typeof value === "object" && value !== null && "~standard" in value);

/** @throws TypeError for a value that the schema refuses, or what the function throws */
export async function readOutput<Output>(reader: OutputReader<Output>, value: JsonValue): Promise<Output> {
  if (isFunction(reader)) return reader(value);
  const result = await reader["~standard"].validate(restored(reader, value));
  if (result.issues)
    throw new TypeError(
      `the output has another form: ${result.issues.map(({ message }) => message).join("; ")}`,
    );
  return result.value;
}
