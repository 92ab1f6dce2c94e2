import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { ScimFailure } from "./failure.ts";

/** A text that every database can hold. */
export const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0") && value.isWellFormed();

/** Reads a boolean, also in Entra ID's form `"False"`; undefined for any other value. */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  return text === "true" ? true : text === "false" ? false : undefined;
}

const coreSchema = "urn:ietf:params:scim:schemas:core:2.0:user:";
const pathForm = /^([a-z$][\w$-]*)(?:\[[^\]]*\])?(?:\.([a-z$][\w$-]*))?$/;

/**
 * The attribute of a path, without its selection: `roles[primary eq "True"].value` is `roles.value`, because a member
 * has one role. Attributes of other schemas keep their full name.
 *
 * @returns the name in lower case, because SCIM's names are case-insensitive (RFC 7643 2.1); null for an invalid path
 * (RFC 7644 3.5.2).
 */
export function attributeOf(path: string): string | null {
  const lower = path.trim().toLowerCase();
  const unprefixed = lower.startsWith(coreSchema) ? lower.slice(coreSchema.length) : lower;
  if (unprefixed.startsWith("urn:")) return unprefixed;
  const match = pathForm.exec(unprefixed);
  if (!match) return null;
  const [, name = "", sub] = match;
  return sub === undefined ? name : `${name}.${sub}`;
}

/**
 * The input for a user by the attribute's name in lower case, for instance `name.givenname`; null removes a value.
 * Unused attributes are ignored: providers send many that a member does not have.
 */
export type ScimUserInput = Map<string, Json>;

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const operationsMax = 100;

/** Reads the complete user of POST and PUT. Null counts as omitted (RFC 7643 2.5), except for attributes that can be removed. */
export function userInputOf(body: JsonObject): ScimUserInput {
  checkSchema(body, userSchema);
  const input: ScimUserInput = new Map();
  put(input, body);
  for (const [name, value] of input) if (value === null && name !== "externalid" && name !== "roles") input.delete(name);
  return input;
}

/**
 * Reads the operations of a PATCH, in their order (RFC 7644 3.5.2).
 *
 * @throws ScimFailure `invalidSyntax`, `invalidPath`, or `noTarget` for a removal without a path.
 */
export function patchUserInput(body: JsonObject): ScimUserInput {
  checkSchema(body, patchSchema);
  const operations = member(body, "operations");
  if (!Array.isArray(operations) || operations.length === 0) throw malformed("Operations must be a list of at least one operation");
  if (operations.length > operationsMax) throw malformed(`Operations must be a list of at most ${operationsMax} operations`);
  const input: ScimUserInput = new Map();
  for (const operation of operations) apply(input, operation);
  return input;
}

function apply(input: ScimUserInput, operation: Json): void {
  if (!isObject(operation)) throw malformed("each of Operations must be an object");
  const [op, path, value] = [member(operation, "op"), member(operation, "path"), member(operation, "value")];
  const verb = typeof op === "string" ? op.toLowerCase() : "";
  if (verb !== "add" && verb !== "replace" && verb !== "remove") throw malformed("op must be add, replace or remove");
  if (path !== undefined && path !== null && typeof path !== "string") throw malformed("path must be a string");
  if (path) putAt(input, path, verb === "remove" ? null : value);
  else if (verb === "remove") throw new ScimFailure("noTarget", "remove requires a path");
  else if (isObject(value)) put(input, value);
  else throw malformed(`${verb} without a path requires an object`);
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
  if (name === "name" && isObject(value)) for (const [part, text] of Object.entries(value)) input.set(`name.${part.toLowerCase()}`, text);
  else input.set(name === "roles.value" ? "roles" : name, value);
}

/** Checks that `schemas`, when present, names the expected schema. */
function checkSchema(body: JsonObject, schema: string): void {
  const schemas = member(body, "schemas");
  if (schemas === undefined) return;
  const isNamed = Array.isArray(schemas) && schemas.some((name) => typeof name === "string" && name.toLowerCase() === schema.toLowerCase());
  if (!isNamed) throw malformed(`schemas must name ${schema}`);
}

/** A member of a message; names are case-insensitive. */
function member(object: JsonObject, name: string): Json | undefined {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}

const malformed = (message: string): ScimFailure => new ScimFailure("invalidSyntax", message);
