import { Ajv, type ValidateFunction } from "ajv";
import type { Json, JsonObject } from "../json.ts";
import { isObject, referredName } from "./keywords.ts";

const validatorsMax = 64;

type Validator = (value: Json) => boolean;

/** Compiled validators by the text of their schema, the latest used last. */
const validators = new Map<string, Validator>();

/**
 * Whether a value conforms to a schema that `checkSchema` accepts. The work is bounded by the sizes of the two, and a value
 * nested too deeply to be checked does not conform.
 */
export function conforms(schema: JsonObject, value: Json): boolean {
  const validate = validatorOf(JSON.stringify(schema));
  try {
    return validate(value);
  } catch (thrown) {
    // The stack is used up: nothing else throws in a compiled validator.
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

function validatorOf(text: string): Validator {
  const validator = validators.get(text) ?? compiled(JSON.parse(text));
  validators.delete(text);
  validators.set(text, validator);
  const [oldest] = validators.keys();
  if (oldest !== undefined && validators.size > validatorsMax) validators.delete(oldest);
  return validator;
}

/**
 * Each schema has an Ajv of its own, because one Ajv keeps every schema that it ever compiled. Properties are own properties
 * (`toString` is none of `{}`), and code is not optimized: that takes longer than it saves.
 */
function compiled(schema: JsonObject): Validator {
  const ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    ownProperties: true,
    messages: false,
    logger: false,
    code: { optimize: false },
  });
  const answers = rememberReferences(ajv, schema);
  const validate = ajv.compile(schema);
  return (value) => {
    try {
      return validate(value);
    } finally {
      answers.clear();
    }
  };
}

/**
 * Puts a `$ref` in place of Ajv's that compares a definition with a value only once in a run. Otherwise alternatives that lead
 * to the same definitions would double the work at each level. Definitions are found as `checkSchema` found them.
 */
function rememberReferences(ajv: Ajv, schema: JsonObject): Pick<Answers, "clear"> {
  const definitions = new Map<string, ValidateFunction>();
  const answers: Answers = new Map();
  ajv.removeKeyword("$ref");
  ajv.addKeyword({
    keyword: "$ref",
    schemaType: "string",
    errors: false,
    compile: (reference: string) => {
      const name = referredName(reference) ?? "";
      return (value: Json) => remembered(answers, name, value, () => definitions.get(name)?.(value) ?? false);
    },
  });
  const { $defs } = schema;
  for (const [name, definition] of Object.entries(isObject($defs) ? $defs : {})) {
    if (isObject(definition)) definitions.set(name, ajv.compile(definition));
  }
  return answers;
}

/** What a run has found: by definition, then by value (parts of the value by identity). */
type Answers = Map<string, Map<Json, boolean>>;

function remembered(answers: Answers, name: string, value: Json, answer: () => boolean): boolean {
  const known = answers.get(name) ?? new Map<Json, boolean>();
  answers.set(name, known);
  const result = known.get(value) ?? answer();
  known.set(value, result);
  return result;
}
