import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { rulesOf } from "../reference/rules.ts";
import { commentOf, isAnswer, ownMessage, unionOf } from "../reference/schema.ts";
import {
  type Declarations,
  type Direction,
  declaredBy,
  type Form,
  isAlwaysWritten,
  isBigInteger,
  isInEnvelope,
  isRequired,
  wordsOf,
} from "./messages.ts";

const keywords = new Set(
  "and as assert async await break class def from global if import in is lambda not or pass return try with".split(
    " ",
  ),
);

/** A name of the wire as a name of Python. */
export function pythonName(name: string): string {
  if (keywords.has(name))
    throw new Error(
      `${name} is a keyword of Python: give the field another name in scripts/client/python-types.ts`,
    );
  return name;
}

const longestLine = 120;

/** A text in lines, each after `indent`. */
function wrapped(text: string, indent: string): string {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (indent.length + line.length + word.length + 1 > longestLine) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line) => `${indent}${line}`).join("\n");
}

/** A docstring; without a text nothing. */
export function docstring(paragraphs: readonly string[], indent: string): string {
  const escaped = paragraphs.map((paragraph) =>
    paragraph.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"'),
  );
  const [first = "", ...rest] = escaped;
  if (first === "") return "";
  const begin = wrapped(`"""${first}`, indent);
  const ending =
    rest.length === 0
      ? '"""'
      : `\n\n${rest.map((paragraph) => wrapped(paragraph, indent)).join("\n\n")}\n${indent}"""`;
  // A quote at the end would be read as a part of the end.
  return `${begin.endsWith('"') && rest.length === 0 ? `${begin} ` : begin}${ending}\n`;
}

export const literal = (words: readonly string[]): string =>
  `Literal[${words.map((word) => JSON.stringify(word)).join(", ")}]`;

/** What a field means, with its rules. */
export function aboutField(field: DescField, direction: Direction): readonly string[] {
  const rules =
    direction === "request"
      ? rulesOf(field).filter((rule) => rule !== "required" && !rule.startsWith("one of"))
      : [];
  return [...commentOf(field), ...(rules.length > 0 ? [`Rules: ${rules.join("; ")}.`] : [])];
}

export const fieldsOf = (message: DescMessage): readonly DescField[] =>
  message.members.flatMap((each) => (each.kind === "oneof" ? each.fields : [each]));

/** The type of a field's value in Python. */
export function fieldType(
  field: DescField,
  direction: Direction,
  form: Form,
  typeOf: Declarations["typeOf"],
): string {
  const one = valueType(field, direction, form, typeOf);
  const { orNull, textOrParts } = form === "v2" ? wireOptions(field) : { orNull: false, textOrParts: false };
  const [list, map] = direction === "request" ? ["Sequence", "Mapping"] : ["list", "dict"];
  const whole =
    field.fieldKind === "list" ? `${list}[${one}]` : field.fieldKind === "map" ? `${map}[str, ${one}]` : one;
  const text = direction === "request" && textOrParts ? `str | ${whole}` : whole;
  return orNull && direction === "answer" ? `${text} | None` : text;
}

function valueType(
  field: DescField,
  direction: Direction,
  form: Form,
  typeOf: Declarations["typeOf"],
): string {
  if (field.enum) return literal(wordsOf(field.enum, form));
  const message = ownMessage(field);
  if (message) return typeOf(message, direction);
  if (field.message) return wellKnown(field.message.typeName, direction);
  if (field.scalar === ScalarType.BOOL) return "bool";
  if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return "str";
  if (field.scalar === ScalarType.DOUBLE || field.scalar === ScalarType.FLOAT) return "float";
  if (form === "connect" && isBigInteger(field)) return direction === "request" ? "int | str" : "str";
  return "int";
}

function wellKnown(typeName: string, direction: Direction): string {
  switch (typeName) {
    case "google.protobuf.Struct":
      return direction === "request" ? "Mapping[str, Any]" : "dict[str, Any]";
    case "google.protobuf.Value":
      return "Any";
    case "google.protobuf.ListValue":
      return direction === "request" ? "Sequence[Any]" : "list[Any]";
    case "google.protobuf.Timestamp":
    case "google.protobuf.FieldMask":
      return "str";
    default:
      throw new Error(`scripts/client has no type for ${typeName}`);
  }
}

/** Types of messages as TypedDicts. @param taken names that the module has already. */
export function pythonDeclarations(form: Form, taken: readonly string[] = []): Declarations {
  return declaredBy(taken, declare);

  function declare(
    message: DescMessage,
    name: string,
    direction: Direction,
    typeOf: Declarations["typeOf"],
  ): string {
    const union = direction === "answer" && form === "v2" ? unionOf(message) : undefined;
    const cases = union?.payload.fields;
    const own = fieldsOf(message).filter(
      (field) => !(form === "v2" && isInEnvelope(field)) && !cases?.includes(field) && field !== union?.kind,
    );
    const members = own.map((field) => member(field, direction, typeOf)).join("");
    const base = form === "v2" && direction === "answer" && isAnswer(message) ? "Envelope" : "TypedDict";
    const about = docstring(commentOf(message), "    ");
    const body = members || (about === "" ? "    pass\n" : "");
    if (!cases) return `\nclass ${name}(${base}):\n${about}${about && body && "\n"}${body}`;
    const parts = cases.map((field) => {
      const part = `${name}${field.name.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase())}`;
      const lines = `    type: ${literal([field.name])}\n    ${field.name}: ${valueType(field, direction, form, typeOf)}\n`;
      return { part, text: `\nclass ${part}(${name}Base):\n${lines}${docstring(commentOf(field), "    ")}` };
    });
    const alias = `\n${name}: TypeAlias = (\n    ${parts.map(({ part }) => part).join("\n    | ")}\n)\n${docstring(commentOf(message), "")}`;
    return `\nclass ${name}Base(TypedDict):\n    """What every ${name} has."""\n\n${members}\n${parts.map(({ text }) => text).join("\n")}\n${alias}`;
  }

  function member(field: DescField, direction: Direction, typeOf: Declarations["typeOf"]): string {
    const isThere =
      field.oneof === undefined &&
      (direction === "request" ? isRequired(field) : isAlwaysWritten(field, form));
    const type = fieldType(field, direction, form, typeOf);
    const name = pythonName(form === "v2" ? field.name : field.jsonName);
    return `    ${name}: ${isThere ? type : `NotRequired[${type}]`}\n${docstring(aboutField(field, direction), "    ")}`;
  }
}
