import { type DescEnumValue, type DescField, type DescMessage, getOption, hasOption, type Message, ScalarType } from "@bufbuild/protobuf";
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
import { type EnumRules, type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Failure, invalidArgument } from "../core/failure.ts";
import { word } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import { checkText } from "./text.ts";

/** The name of an enum value in v2: its `word`, or its full name where it has none. */
export const enumValueName = (value: DescEnumValue): string => (hasOption(value, word) ? getOption(value, word) : value.name);

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
export const enumRule = (field: DescField): string => `must be one of ${acceptedValues(field).map(enumValueName).join(", ")}`;

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
 * that it breaks (spec/decisions.md 12).
 */
export function validate(schema: DescMessage, message: Message): void {
  checkText(schema, message);
  const result = validator.validate(schema, message);
  if (result.kind === "valid") return;
  if (result.kind === "error") throw new Failure("internal", "internal error", { cause: result.error });
  const [violation] = result.violations;
  const path = pathToString(violation?.field ?? []);
  throw invalidArgument(path, violation ? ruleOf(violation, reflect(schema, message)) : "is not valid");
}

/** The rule in a text that fits every wire: no enum numbers, and no length rule for a missing value. */
function ruleOf({ field: path, message, ruleId }: Violation, request: ReflectMessage): string {
  const field = path.findLast((step) => step.kind === "field");
  const isMissing = field === path.at(-1) && field !== undefined && !isPresent(path, request);
  if (field?.enum && (isMissing || ruleId.startsWith("enum."))) return isMissing ? `is required, and ${enumRule(field)}` : enumRule(field);
  if (isMissing) return isNumber(field) ? `is required, and ${message}` : "is required";
  if (ruleId === "string.min_len" && message === "must be at least 1 characters") return "must not be empty";
  const [, words] = /^does not match regex pattern `\^\(([\w|]+)\)\$`$/.exec(message) ?? [];
  return words === undefined ? message : `must be one of ${words.replaceAll("|", ", ")}`;
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
