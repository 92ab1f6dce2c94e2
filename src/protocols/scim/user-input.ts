import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { ScimFailure } from "./failure.ts";
import { checkSchema, malformed, readOperations } from "./patch.ts";

/** A text that every database can hold. */
export const isStorable = (value: unknown): value is string =>
  typeof value === "string" && !value.includes("\0") && value.isWellFormed();

/** Reads a boolean, also in Entra ID's form `"False"`; undefined for any other value. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return text === "true" ? true : text === "false" ? false : undefined;
}

const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;
const pathForm = /^([a-z$][\w$-]*)(?:\[[^\]]*\])?(?:\.([a-z$][\w$-]*))?$/;

/**
 * The attribute of a path, without its selection: `roles[primary eq "True"].value` is `roles.value`, because
 * a member has one role. Attributes of other schemas keep their full name.
 *
 * @returns the name in lower case, because SCIM's names are case-insensitive (RFC 7643 2.1); null for an
 * invalid path (RFC 7644 3.5.2).
 */
export function attributeOf(path: string): string | null {
  const lower = path.trim().toLowerCase();
  const unprefixed = lower.replace(coreSchema, "");
  if (unprefixed.startsWith("urn:")) return unprefixed;
  const match = pathForm.exec(unprefixed);
  if (!match) return null;
  const [, name = "", sub] = match;
  return sub === undefined ? name : `${name}.${sub}`;
}

/**
 * The input for a user by the attribute's name in lower case, for instance `name.givenname`; null removes a
 * value. Unused attributes are ignored: providers send many that a member does not have.
 */
export type ScimUserInput = Map<string, Json>;

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";

/**
 * Reads the complete user of POST and PUT. Null counts as omitted (RFC 7643 2.5), except for attributes that
 * can be removed.
 */
export function userInputOf(body: JsonObject): ScimUserInput {
  checkSchema(body, userSchema);
  const input: ScimUserInput = new Map();
  put(input, body);
  for (const [name, value] of input)
    if (value === null && name !== "externalid" && name !== "roles") input.delete(name);
  return input;
}

/**
 * Reads the operations of a PATCH, in their order (RFC 7644 3.5.2).
 *
 * @throws ScimFailure `invalidSyntax`, `invalidPath`, or `noTarget` for a removal without a path.
 */
export function patchUserInput(body: JsonObject): ScimUserInput {
  const input: ScimUserInput = new Map();
  for (const { verb, path, value } of readOperations(body)) {
    if (path !== undefined) putAt(input, path, verb === "remove" ? null : value);
    else if (isObject(value)) put(input, value);
  }
  return input;
}

function putAt(input: ScimUserInput, path: string, value: Json | undefined): void {
  const name = attributeOf(path);
  if (name === null) throw new ScimFailure("invalidPath", "path does not name an attribute");
  if (value === undefined) throw malformed("add and replace require a value");
  putAttribute(input, name, value);
}

/** Puts the members of an object. Their names may be paths: Entra ID sends `name.givenName`. */
function put(input: ScimUserInput, attributes: JsonObject): void {
  for (const [path, value] of Object.entries(attributes)) {
    const name = attributeOf(path);
    if (name !== null) putAttribute(input, name, value);
  }
}

function putAttribute(input: ScimUserInput, name: string, value: Json): void {
  if (name === "name" && isObject(value))
    for (const [part, text] of Object.entries(value)) input.set(`name.${part.toLowerCase()}`, text);
  else input.set(name === "roles.value" ? "roles" : name, value);
}
