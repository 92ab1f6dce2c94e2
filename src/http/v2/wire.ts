import { type DescEnum, type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { type Wire, wire, word } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";

/** How v2 departs from the default at this field (proto/taskplatform/options/v1). */
export const wireOf = (field: DescField): Wire => getOption(field, wire);

/** The spellings of a field that input may use: the proto's own, lowerCamelCase, and its aliases. */
export const spellings = (field: DescField): ReadonlySet<string> =>
  new Set([
    field.name,
    field.jsonName,
    field.name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    ...wireOf(field).aliases,
  ]);

/** An enum as v2 spells it. */
export interface Words {
  readonly numbers: ReadonlyMap<string, number>;
  readonly words: ReadonlyMap<number, string>;
  /** What a caller is told who used another word. */
  readonly rule: string;
}

/** The words of an enum: a value's `word`, or its full name where it has none. */
export function wordsOf(desc: DescEnum): Words {
  const pairs = desc.values.map((value) => [hasOption(value, word) ? getOption(value, word) : value.name, value.number] as const);
  // "Not stated" is no choice to offer, although it may be sent.
  const choices = pairs.filter(([text, number]) => number !== 0 || !text.endsWith("_UNSPECIFIED"));
  return {
    numbers: new Map(pairs),
    words: new Map(pairs.map(([text, number]) => [number, text])),
    rule: `must be one of ${choices.map(([text]) => text).join(", ")}`,
  };
}
