import { type DescEnumValue, type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { type EnumRules, type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { word } from "../gen/proto/taskplatform/options/v1/options_pb.ts";

/** A value of an enum as callers of v2 know it: by its `word`, or its full name where it has none. */
export const wordOf = (value: DescEnumValue): string => (hasOption(value, word) ? getOption(value, word) : value.name);

/** The rule of an enum field, with the words that it takes: not those that its own rules exclude, nor "not stated". */
export function choiceRule(field: DescField): string {
  const { notIn = [], in: only = [] } = enumRules(getOption(field, fieldRules)) ?? {};
  const taken = (field.enum?.values ?? []).filter(
    (value) =>
      !(value.number === 0 && value.name.endsWith("_UNSPECIFIED")) &&
      !notIn.includes(value.number) &&
      (only.length === 0 || only.includes(value.number)),
  );
  return `must be one of ${taken.map(wordOf).join(", ")}`;
}

/** Of a single value, or of a list's items. */
function enumRules({ type }: FieldRules): EnumRules | undefined {
  if (type.case === "repeated" && type.value.items) return enumRules(type.value.items);
  return type.case === "enum" ? type.value : undefined;
}
