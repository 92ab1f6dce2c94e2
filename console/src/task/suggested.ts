import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { text } from "./act-words.ts";
import { fieldsOf, type Schema } from "./decision.ts";

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const textOf = (value: JsonValue | undefined): string =>
  Array.isArray(value) ? value.map(String).join(", ") : String(value ?? "");

/** A part of an act to which a decision can be limited. */
export interface Item {
  readonly value: JsonValue;
  readonly label: string;
}

/**
 * The parts that a member selects: the mails of `indices`, the accounts of `selectedAccountIds`; null where
 * the params list none.
 */
export function itemsOf(name: string, params: JsonObject | undefined): readonly Item[] | null {
  // Only one list of objects can be meant; with several of them the person writes the numbers or ids.
  const lists = Object.values(params ?? {}).filter(
    (value) => Array.isArray(value) && value.length > 0 && value.every(isObject),
  );
  const [objects] = lists as JsonObject[][];
  if (objects === undefined || lists.length > 1) return null;
  if (name === "indices") return objects.map((mail, at) => ({ value: at, label: mailOf(mail, at + 1) }));
  if (name !== "selectedAccountIds" || objects.some(({ id }) => typeof id !== "string")) return null;
  return objects.map(({ id, name: title }) => ({
    value: id ?? "",
    label: [textOf(title), textOf(id)].filter(Boolean).join(" · "),
  }));
}

const mailOf = ({ to, subject }: JsonObject, number: number): string =>
  [text.mail(number), textOf(subject), textOf(to)].filter(Boolean).join(" · ");

/**
 * The names of the secrets that a tool requests: the first list of texts, or of objects with a `key` or
 * `name`.
 */
export function secretNames(params: JsonObject | undefined): readonly string[] {
  for (const value of Object.values(params ?? {})) {
    if (!Array.isArray(value)) continue;
    const names = value.map((each) => (isObject(each) ? (each["key"] ?? each["name"]) : each));
    if (names.length > 0 && names.every((name) => typeof name === "string" && name !== ""))
      return [...new Set(names as string[])];
  }
  return [];
}

/** What is missing in a form before its decision can be sent, by the name of the member or of the secret. */
export function faultsOf(
  schema: Schema,
  params: JsonObject | undefined,
  values: JsonObject,
): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {};
  for (const [name, { type, items }] of fieldsOf(schema)) {
    const value = values[name];
    if (items?.type === "object")
      for (const missing of missingSecrets(params, value)) faults[missing] = text.fillIn;
    else if (type === "array" && Array.isArray(value) && value.length === 0) faults[name] = text.chooseOne;
    else if (name === "client_id" && !value) faults[name] = text.chooseOne;
  }
  return faults;
}

function missingSecrets(params: JsonObject | undefined, value: JsonValue | undefined): readonly string[] {
  const given = (Array.isArray(value) ? value : [])
    .filter(isObject)
    .filter(({ key, value: secret }) => key !== "" && secret !== "");
  const names = secretNames(params);
  if (names.length === 0) return given.length === 0 ? ["secrets"] : [];
  return names.filter((name) => !given.some(({ key }) => key === name));
}
