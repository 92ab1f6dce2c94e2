import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { canRefuse } from "#core/actions/kind.ts";
import { actOf, labelOf, text } from "./act-words.ts";

/** The subset of JSON Schema that the server sends for approvals (spec/api.md 9.3). */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly JsonValue[];
  readonly default?: JsonValue;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Members that the buttons of a card decide. */
const decisive = ["accept", "action"];

/** The members of a schema that a person fills in. */
export const fieldsOf = (schema: Schema): readonly (readonly [name: string, field: Schema])[] =>
  Object.entries(schema.properties ?? {}).filter(([name]) => !decisive.includes(name));

/** The first values of a form. */
export const initialValues = (schema: Schema): JsonObject =>
  Object.fromEntries(
    fieldsOf(schema).flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );

/** What a button decides. */
export interface Choice {
  readonly label: string;
  readonly input: JsonObject;
  /** True if the members of the form belong to it. */
  readonly takesForm: boolean;
}

/**
 * What can be decided: the first choice allows. `refusal` is null where a refusal decides nothing: a message
 * says what to do instead.
 */
export interface Choices {
  readonly allows: readonly [Choice, ...Choice[]];
  readonly refusal: Choice | null;
}

const refusing = ["reject", "skip"];

/** The choices of a kind by its schema. */
export function choicesOf(kind: string, schema: Schema, values: JsonObject): Choices {
  const actions = (schema.properties?.["action"]?.enum ?? []).map(String);
  const refused = actions.find((action) => refusing.includes(action));
  const choice = (action: string): Choice => ({
    label: labelOf(action),
    input: { action },
    takesForm: action === "select",
  });
  const [first, ...others] = actions.filter((action) => action !== refused).map(choice);
  if (first) return { allows: [first, ...others], refusal: refused === undefined ? null : choice(refused) };
  const hasAccept = schema.properties?.["accept"] !== undefined;
  const label = actOf(kind, values["save_draft"] === true);
  const refusal = { label: text.refuse, input: { accept: false }, takesForm: false };
  return {
    allows: [{ label, input: hasAccept ? { accept: true } : {}, takesForm: true }],
    refusal: hasAccept && canRefuse(kind) ? refusal : null,
  };
}

/** Leaves out members that were not filled in. */
export const keepFilled = (values: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== "" && value !== false && value !== null),
  );
