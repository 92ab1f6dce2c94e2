import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { getOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { optional } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { envelope } from "../../src/http/v2/writer.ts";
import { enumValueName } from "../../src/pipeline/validate.ts";
import { rulesOf } from "../reference/rules.ts";
import { isAnswer, isRequest } from "../reference/schema.ts";

/** The JSON that types describe: that of v2, or protobuf's own, which Connect takes. */
export type Form = "v2" | "connect";
/** Requests may leave members out, and take more forms than answers have. */
export type Direction = "request" | "answer";

/** Integers that are strings in the JSON of Connect. */
const bigScalars = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

export const isBigInteger = ({ scalar }: DescField): boolean =>
  scalar !== undefined && bigScalars.has(scalar);

/** The names of an enum's values in this form. */
export const wordsOf = (desc: DescEnum, form: Form): readonly string[] =>
  desc.values
    .filter(({ number }) => number !== 0 || form === "connect")
    .map((value) => (form === "v2" ? enumValueName(value) : value.name));

/** Whether the field's rules refuse a request without it. */
export const isRequired = (field: DescField): boolean => rulesOf(field).includes("required");

/**
 * Whether every answer has the member. v2 writes plain values always; an object at the top of an answer is
 * there unless its option says `optional` (spec/decisions.md 108). Connect leaves out zero values.
 */
export const isAlwaysWritten = (field: DescField, form: Form): boolean => {
  const { orNull, omitEmpty } = wireOptions(field);
  if (form === "connect" || isInEnvelope(field)) return false;
  if (field.fieldKind === "message" && isAnswer(field.parent)) return !getOption(field, optional);
  return (
    orNull || (!omitEmpty && (field.fieldKind === "list" || field.fieldKind === "map" || isPlain(field)))
  );
};

const isPlain = (field: DescField): boolean =>
  !field.message && field.presence === FeatureSet_FieldPresence.IMPLICIT;

/** Whether it is a member of the envelope of v2, which every answer has (`packages/client/src/calls.ts`). */
export const isInEnvelope = ({ parent, name }: DescField): boolean => isAnswer(parent) && envelope.has(name);

/** Writes the types of messages, each under one name. */
export interface Declarations {
  /** The type of a message; declares it with the first use. */
  typeOf(message: DescMessage, direction: Direction): string;
  /** The text of all declarations so far. */
  text(): string;
}

/**
 * Gives each message one name in a file, and keeps the declarations in the order of their first use.
 *
 * @param taken names that the file has already.
 * @param declare writes a declaration in the language of the file.
 */
export function declaredBy(
  taken: readonly string[],
  declare: (
    message: DescMessage,
    name: string,
    direction: Direction,
    typeOf: Declarations["typeOf"],
  ) => string,
): Declarations {
  const names = new Map<string, string>();
  const used = new Set(taken);
  const written: string[] = [];

  function typeOf(message: DescMessage, direction: Direction): string {
    const key = `${message.typeName} ${direction}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const wanted = nestedName(message) + (direction === "request" && !isRequest(message) ? "Input" : "");
    const name = used.has(wanted) ? packageName(message) + wanted : wanted;
    if (used.has(name)) throw new Error(`two messages are named ${name}`);
    names.set(key, name);
    used.add(name);
    const at = written.push("") - 1;
    written[at] = declare(message, name, direction, typeOf);
    return name;
  }

  return { typeOf, text: () => written.join("\n") };
}

const nestedName = (message: DescMessage): string =>
  (message.parent ? nestedName(message.parent) : "") + message.name;

/** `task.v2.Message` is `TaskMessage` where `Message` is taken. */
const packageName = (message: DescMessage): string => {
  const [first = ""] = message.typeName.split(".");
  return first.charAt(0).toUpperCase() + first.slice(1);
};
