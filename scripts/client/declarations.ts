import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { rulesOf } from "../reference/rules.ts";
import { commentOf, ownMessage, unionOf } from "../reference/schema.ts";
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

const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(" | ");

const jsDoc = (paragraphs: readonly string[], indent: string): string => {
  const lines = paragraphs.join("\n\n").replaceAll("*/", "* /").split("\n");
  if (paragraphs.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")}${indent} */\n`;
};

/** @param taken names that the file has already. */
export function declarations(form: Form, taken: readonly string[] = []): Declarations {
  const declared = declaredBy(taken, declare);
  const { typeOf } = declared;

  function valueType(field: DescField, direction: Direction): string {
    if (field.enum) return quoted(wordsOf(field.enum, form));
    const message = ownMessage(field);
    if (message) return typeOf(message, direction);
    if (field.message) return wellKnown(field.message.typeName);
    if (field.scalar === ScalarType.BOOL) return "boolean";
    if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return "string";
    if (form === "connect" && isBigInteger(field))
      return direction === "request" ? "number | string" : "string";
    return "number";
  }

  function fieldType(field: DescField, direction: Direction): string {
    const one = valueType(field, direction);
    const { orNull, textOrParts } =
      form === "v2" ? wireOptions(field) : { orNull: false, textOrParts: false };
    const many = one.includes("|") ? `(${one})` : one;
    const whole =
      field.fieldKind === "list"
        ? `readonly ${many}[]`
        : field.fieldKind === "map"
          ? `Readonly<Record<string, ${one}>>`
          : one;
    const text = direction === "request" && textOrParts ? `string | ${whole}` : whole;
    return orNull && direction === "answer" ? `${text} | null` : text;
  }

  function member(field: DescField, direction: Direction, isOneOf = false): string {
    const rules =
      direction === "request"
        ? rulesOf(field).filter((rule) => rule !== "required" && !rule.startsWith("one of"))
        : [];
    const comment = [...commentOf(field), ...(rules.length > 0 ? [`Rules: ${rules.join("; ")}.`] : [])];
    const isThere =
      direction === "request" ? isRequired(field) && !isOneOf : isAlwaysWritten(field, form) && !isOneOf;
    const name = form === "v2" ? field.name : field.jsonName;
    return `${jsDoc(comment, "  ")}  readonly ${name}${isThere ? "" : "?"}: ${fieldType(field, direction)};\n`;
  }

  function declare(message: DescMessage, name: string, direction: Direction): string {
    const head = jsDoc(commentOf(message), "");
    const union = direction === "answer" && form === "v2" ? unionOf(message) : undefined;
    const cases = union?.payload.fields;
    const fields = message.members.flatMap((each) => (each.kind === "oneof" ? each.fields : [each]));
    const own = fields.filter(
      (field) => !(form === "v2" && isInEnvelope(field)) && !cases?.includes(field) && field !== union?.kind,
    );
    const members = own.map((field) => member(field, direction, field.oneof !== undefined)).join("");
    if (members === "") return `${head}export type ${name} = object;\n`;
    if (!cases) return `${head}export interface ${name} {\n${members}}\n`;
    const parts = cases.map((field) => {
      const type = `${jsDoc(["Kind of event: the name of the member that is present."], "  ")}  readonly type: ${JSON.stringify(field.name)};\n`;
      const payload = `${jsDoc(commentOf(field), "  ")}  readonly ${field.name}: ${valueType(field, direction)};\n`;
      return `{\n${type}${payload}}`;
    });
    return `/** What every {@link ${name}} has. */\nexport interface ${name}Base {\n${members}}\n\n${head}export type ${name} = ${name}Base & (\n${parts.map((part) => `  | ${part}\n`).join("")});\n`;
  }

  return declared;
}

function wellKnown(typeName: string): string {
  switch (typeName) {
    case "google.protobuf.Struct":
      return "JsonObject";
    case "google.protobuf.Value":
      return "JsonValue";
    case "google.protobuf.ListValue":
      return "readonly JsonValue[]";
    case "google.protobuf.Timestamp":
    case "google.protobuf.FieldMask":
      return "string";
    default:
      throw new Error(`scripts/client has no type for ${typeName}`);
  }
}
