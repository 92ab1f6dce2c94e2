import { type Json, Refusal } from "../../shared/operations.ts";

const wrong = (field: string, rule: string): Refusal => new Refusal("invalid_argument", `${field}: ${rule}`, { field });

/** A required text. @throws Refusal */
export function textIn(input: Json, field: string): string {
  const value = input[field];
  if (typeof value !== "string" || value === "") throw wrong(field, "must be a text that is not empty");
  return value;
}

/** A whole number within bounds, or the default. @throws Refusal */
export function numberIn(input: Json, field: string, { least, most, usual }: Readonly<Record<"least" | "most" | "usual", number>>): number {
  const value = input[field] ?? usual;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    throw wrong(field, `must be a whole number from ${least} to ${most}`);
  return value;
}

/** The members with these names that are present. @throws Refusal for one that is not a text */
export const optionalTexts = (input: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (input[name] == null ? [] : [[name, textIn(input, name)]])));

/** A list of texts; empty when absent. @throws Refusal */
export function textsIn(input: Json, field: string): readonly string[] {
  const value = input[field] ?? [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) throw wrong(field, "must be a list of texts");
  return value;
}

/** @throws Refusal for a member that the tool does not have. */
export function checkMembers(input: Json, { properties = {} }: { readonly properties?: object | undefined }): void {
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw wrong(unknown.slice(0, 64), `is not a member; the members are ${Object.keys(properties).join(", ")}`);
}

/** The members of the input with these names. */
export const pick = (input: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]] as const])));
