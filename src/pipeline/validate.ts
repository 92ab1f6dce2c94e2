import {
  type DescEnumValue,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import {
  isReflectList,
  isReflectMap,
  isReflectMessage,
  type Path,
  pathToString,
  type ReflectMessage,
  reflect,
} from "@bufbuild/protobuf/reflect";
import { createValidator, type Validator, type Violation } from "@bufbuild/protovalidate";
import {
  type EnumRules,
  type FieldRules,
  field as fieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Failure, invalidArguments } from "../core/failure.ts";
import { word } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import { Mistakes } from "./mistakes.ts";
import { findTextMistakes } from "./text.ts";

/** The name of an enum value in v2: its `word`, or its full name where it has none. */
export const enumValueName = (value: DescEnumValue): string =>
  hasOption(value, word) ? getOption(value, word) : value.name;

/** The values that an enum field accepts: without those that its rules exclude and without UNSPECIFIED. */
export function acceptedValues(field: DescField): readonly DescEnumValue[] {
  const { notIn = [], in: only = [] } = enumRules(getOption(field, fieldRules)) ?? {};
  return (field.enum?.values ?? []).filter(
    (value) =>
      !(value.number === 0 && value.name.endsWith("_UNSPECIFIED")) &&
      !notIn.includes(value.number) &&
      (only.length === 0 || only.includes(value.number)),
  );
}

/** The rule of an enum field with its accepted values. */
export const enumRule = (field: DescField): string =>
  `must be one of ${acceptedValues(field).map(enumValueName).join(", ")}`;

/** The enum rules of a single value, or of a list's items. */
function enumRules({ type }: FieldRules): EnumRules | undefined {
  if (type.case === "repeated" && type.value.items) return enumRules(type.value.items);
  return type.case === "enum" ? type.value : undefined;
}

const validator: Validator = createValidator();

/**
 * Checks a decoded request against the rules of its fields, in the same way on every wire.
 *
 * @throws Failure `invalid_argument` with the path of the first invalid field and the rule
 * that it breaks (spec/decisions.md 12), and the other mistakes (spec/api.md 8.88).
 */
export function validate(schema: DescMessage, message: Message): void {
  const found = new Mistakes();
  findMistakes(schema, message, found);
  refuseMistakes(found);
}

/** @throws Failure `invalid_argument` with all mistakes, when there are any. */
export function refuseMistakes({ all: [first, ...others] }: Mistakes): void {
  if (first !== undefined) throw invalidArguments([first, ...others]);
}

/** Adds the mistakes of a decoded request to those that are known of the same request. */
export function findMistakes(schema: DescMessage, message: Message, found: Mistakes): void {
  findTextMistakes(schema, message, found);
  if (found.isFull) return;
  const result = validator.validate(schema, message);
  if (result.kind === "valid") return;
  // The validator's functions can fail on values that are already refused.
  if (result.kind === "error" && found.count > 0) return;
  if (result.kind === "error") throw new Failure("internal", "internal error", { cause: result.error });
  const request = reflect(schema, message);
  const known = [...found.all];
  for (const violation of result.violations) {
    if (found.isFull) return;
    found.addBeside({ path: pathToString(violation.field), rule: ruleOf(violation, request) }, known);
  }
}

/** The rule in a text that fits every wire: no enum numbers, and no length rule for a missing value. */
function ruleOf({ field: path, message, ruleId }: Violation, request: ReflectMessage): string {
  const field = path.findLast((step) => step.kind === "field");
  const isMissing = field === path.at(-1) && field !== undefined && !isPresent(path, request);
  if (field?.enum && (isMissing || ruleId.startsWith("enum.")))
    return isMissing ? `is required, and ${enumRule(field)}` : enumRule(field);
  const range = message.replace(
    /^must be greater than or equal to (\S+) and less than or equal to (\S+)$/,
    "must be from $1 to $2",
  );
  if (isMissing) return isNumber(field) ? `is required, and ${range}` : "is required";
  if (ruleId === "string.min_len" && message === "must be at least 1 characters") return "must not be empty";
  const [, words] = /^does not match regex pattern `\^\(([\w|]+)\)\$`$/.exec(message) ?? [];
  return words === undefined ? range : `must be one of ${words.replaceAll("|", ", ")}`;
}

/** A number: zero may have been sent, so its refusal names the rule too. */
const isNumber = (field: DescField | undefined): boolean =>
  field?.fieldKind === "scalar" && field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES;

/** Whether the last field of a path is set; one without presence is set when it is not zero or empty. */
function isPresent(path: Path, request: ReflectMessage): boolean {
  let value: unknown = request;
  for (const step of path.slice(0, -1)) value = stepInto(value, step);
  const last = path.at(-1);
  return !isReflectMessage(value) || last?.kind !== "field" || value.isSet(last);
}

function stepInto(value: unknown, step: Path[number]): unknown {
  if (step.kind === "field" && isReflectMessage(value)) return value.get(step);
  if (step.kind === "list_sub" && isReflectList(value)) return value.get(step.index);
  return step.kind === "map_sub" && isReflectMap(value) ? value.get(step.key) : undefined;
}
