import { type DescEnum, type DescField, getOption } from "@bufbuild/protobuf";
import { type Wire, wire } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";
import { enumValueName } from "../../pipeline/validate.ts";

/** The v2 options of a field (proto/taskplatform/options/v1). */
export const wireOptions = (field: DescField): Wire => getOption(field, wire);

/**
 * The spellings of a field in input: the proto name, lowerCamelCase, and its aliases. None for a field that
 * is not part of v2.
 */
export const spellings = (field: DescField): ReadonlySet<string> =>
  new Set(
    wireOptions(field).hidden
      ? []
      : [
          field.name,
          field.jsonName,
          field.name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
          ...wireOptions(field).aliases,
        ],
  );

export interface EnumNames {
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** The names of an enum's values: a value's `word`, or its full name where it has none. */
export function enumNames(desc: DescEnum): EnumNames {
  const pairs = desc.values.map((value) => [enumValueName(value), value.number] as const);
  return {
    numbers: new Map(pairs),
    names: new Map(pairs.map(([text, number]) => [number, text])),
  };
}
