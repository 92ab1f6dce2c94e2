import type { DescEnum, EnumShape } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";
import { word } from "../gen/proto/taskplatform/options/v1/options_pb.ts";

/** Both ways between the core's words and an enum's numbers. */
export interface Words<Word extends string, Value> {
  readonly toValue: (word: Word) => Value;
  readonly toWord: (value: Value) => Word | undefined;
}

/**
 * The words that the proto itself gives to an enum's values. The core speaks the
 * contract's words, so the descriptor is the only table; `words` makes the compiler
 * and the start check that the core knows all of them.
 */
export function wordsOf<Desc extends DescEnum, Word extends string>(desc: Desc, words: readonly Word[]): Words<Word, EnumShape<Desc>> {
  const pairs = desc.values.map((value) => [getOption(value, word), value.number] as const).filter(([text]) => text !== "");
  const values = new Map<string, number>(pairs);
  const missing = [
    ...words.filter((text) => !values.has(text)),
    ...[...values.keys()].filter((text) => !(words as readonly string[]).includes(text)),
  ];
  if (missing.length > 0) throw new Error(`${desc.typeName} and the core differ on: ${missing.join(", ")}`);
  const texts = new Map(pairs.map(([text, number]) => [number, text]));
  return {
    // Both maps were checked above to hold exactly `words`.
    toValue: (text) => values.get(text) as EnumShape<Desc>,
    toWord: (value) => texts.get(Number(value)) as Word | undefined,
  };
}
