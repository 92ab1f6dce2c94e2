import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { enumValueName } from "../../src/call/validate.ts";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { rulesOf } from "../reference/rules.ts";
import { commentOf, ownMessage } from "../reference/schema.ts";

/** The JSON that types describe: that of v2, or protobuf's own, which Connect takes. */
export type Form = "v2" | "connect";
/** Requests may leave members out, and take more forms than answers have. */
export type Direction = "request" | "answer";

const bigScalars = new Set([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64]);

/** The name of an enum's value in this form. */
const wordsOf = (desc: DescEnum, form: Form): readonly string[] =>
  desc.values
    .filter(({ number }) => number !== 0 || form === "connect")
    .map((value) => (form === "v2" ? enumValueName(value) : value.name));

const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(" | ");

const jsDoc = (paragraphs: readonly string[], indent: string): string => {
  const lines = paragraphs.join("\n\n").replaceAll("*/", "* /").split("\n");
  if (paragraphs.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")}${indent} */\n`;
};

/** Whether the field's rules refuse a request without it. */
const isRequired = (field: DescField): boolean => rulesOf(field).includes("required");

/**
 * Whether every answer has the member. v2 writes plain values always; an object at the top of an answer is there unless its comment
 * names a condition (spec/decisions.md 108). Connect leaves out zero values.
 */
export const isAlwaysWritten = (field: DescField, form: Form): boolean => {
  const { orNull, omitEmpty } = wireOptions(field);
  if (form === "connect" || isInEnvelope(field)) return false;
  if (field.fieldKind === "message" && field.parent.name.endsWith("Response"))
    return !/absent|only|with `/i.test(commentOf(field).join(" "));
  return orNull || (!omitEmpty && (field.fieldKind === "list" || field.fieldKind === "map" || isPlain(field)));
};

const isPlain = (field: DescField): boolean => !field.message && field.presence === FeatureSet_FieldPresence.IMPLICIT;

/** Members of the envelope of v2, which every answer has (`packages/client/src/calls.ts`). */
const envelope: ReadonlySet<string> = new Set(["ok", "request_id", "warnings"]);
const isInEnvelope = ({ parent, name }: DescField): boolean => parent.name.endsWith("Response") && envelope.has(name);

/** Writes the types of messages, each under one name. */
export interface Declarations {
  /** The type of a message; declares it with the first use. */
  typeOf(message: DescMessage, direction: Direction): string;
  /** The text of all declarations so far. */
  text(): string;
}

/** @param taken names that the file has already. */
export function declarations(form: Form, taken: readonly string[] = []): Declarations {
  const names = new Map<string, string>();
  const used = new Set(taken);
  const written: string[] = [];

  function typeOf(message: DescMessage, direction: Direction): string {
    const key = `${message.typeName} ${direction}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const isEnvelope = /(Request|Response)$/.test(message.name);
    const wanted = nestedName(message) + (direction === "request" && !isEnvelope ? "Input" : "");
    const name = used.has(wanted) ? packageName(message) + wanted : wanted;
    if (used.has(name)) throw new Error(`two messages are named ${name}`);
    names.set(key, name);
    used.add(name);
    const at = written.push("") - 1;
    written[at] = declare(message, name, direction);
    return name;
  }

  function valueType(field: DescField, direction: Direction): string {
    if (field.enum) return quoted(wordsOf(field.enum, form));
    const message = ownMessage(field);
    if (message) return typeOf(message, direction);
    if (field.message) return wellKnown(field.message.typeName);
    if (field.scalar === ScalarType.BOOL) return "boolean";
    if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return "string";
    if (form === "connect" && field.scalar !== undefined && bigScalars.has(field.scalar))
      return direction === "request" ? "number | string" : "string";
    return "number";
  }

  function fieldType(field: DescField, direction: Direction): string {
    const one = valueType(field, direction);
    const { orNull, textOrParts } = form === "v2" ? wireOptions(field) : { orNull: false, textOrParts: false };
    const many = one.includes("|") ? `(${one})` : one;
    const whole = field.fieldKind === "list" ? `readonly ${many}[]` : field.fieldKind === "map" ? `Readonly<Record<string, ${one}>>` : one;
    const text = direction === "request" && textOrParts ? `string | ${whole}` : whole;
    return orNull && direction === "answer" ? `${text} | null` : text;
  }

  function member(field: DescField, direction: Direction, isOneOf = false): string {
    const rules = direction === "request" ? rulesOf(field).filter((rule) => rule !== "required" && !rule.startsWith("one of")) : [];
    const comment = [...commentOf(field), ...(rules.length > 0 ? [`Rules: ${rules.join("; ")}.`] : [])];
    const isThere = direction === "request" ? isRequired(field) && !isOneOf : isAlwaysWritten(field, form) && !isOneOf;
    const name = form === "v2" ? field.name : field.jsonName;
    return `${jsDoc(comment, "  ")}  readonly ${name}${isThere ? "" : "?"}: ${fieldType(field, direction)};\n`;
  }

  function declare(message: DescMessage, name: string, direction: Direction): string {
    const head = jsDoc(commentOf(message), "");
    const cases = direction === "answer" && form === "v2" ? discriminated(message) : null;
    const fields = message.members.flatMap((each) => (each.kind === "oneof" ? each.fields : [each]));
    const own = fields.filter(
      (field) => !(form === "v2" && isInEnvelope(field)) && !cases?.includes(field) && !(cases && field.name === "type"),
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

  return { typeOf, text: () => written.join("\n") };
}

/** The members of the one oneof whose names are the words of the field `type`: a union that `type` decides. */
function discriminated(message: DescMessage): readonly DescField[] | null {
  const [only, ...more] = message.oneofs;
  const words = message.fields.find(({ name }) => name === "type")?.enum?.values.map(enumValueName);
  return only && more.length === 0 && words && only.fields.every(({ name }) => words.includes(name)) ? only.fields : null;
}

const nestedName = (message: DescMessage): string => (message.parent ? nestedName(message.parent) : "") + message.name;

/** `task.v2.Message` is `TaskMessage` where `Message` is taken. */
const packageName = (message: DescMessage): string => {
  const [first = ""] = message.typeName.split(".");
  return first.charAt(0).toUpperCase() + first.slice(1);
};

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
