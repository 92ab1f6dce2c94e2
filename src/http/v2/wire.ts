import { type DescEnum, type DescField, getOption } from "@bufbuild/protobuf";
import { wordOf } from "../../call/choices.ts";
import { type Wire, wire } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";

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
}

/** The words of an enum: a value's `word`, or its full name where it has none. */
export function wordsOf(desc: DescEnum): Words {
  const pairs = desc.values.map((value) => [wordOf(value), value.number] as const);
  return {
    numbers: new Map(pairs),
    words: new Map(pairs.map(([text, number]) => [number, text])),
  };
}
