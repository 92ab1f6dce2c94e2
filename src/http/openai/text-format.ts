import { z } from "zod";
import { defined } from "../../core/defined.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { unused, withoutEffect } from "../v1/input.ts";

/** A member that SDKs always send; a structured output is strict and needs no name. */
const redundant = z.unknown().optional();

const format = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    // Without a schema there is nothing that an answer could be checked against.
    z.object({ type: withoutEffect(z.literal("json_object")) }),
    z.object({
      type: z.literal("json_schema"),
      schema: z.custom<JsonObject>((value) => isObject(value), { error: "must be an object" }),
      description: z.string().optional(),
      name: redundant,
      strict: redundant,
    }),
  ],
  { error: "must be text or json_schema" },
);

/** `text` of POST /responses (spec/v1.md 7.2). */
export const textOptions = z.object({ format: format.optional(), verbosity: unused });

/** The schema of the structured output; its description comes from the format when the schema has none. */
export function outputSchemaOf(text: z.infer<typeof textOptions> | undefined): {
  structuredOutputSchema?: JsonObject;
} {
  if (text?.format?.type !== "json_schema") return {};
  const { description, schema } = text.format;
  return { structuredOutputSchema: { ...defined({ description }), ...schema } };
}
