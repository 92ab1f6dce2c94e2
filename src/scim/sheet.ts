import type { Json, JsonObject } from "../core/json.ts";
import { ScimFailure } from "./failure.ts";
import { attributeOf } from "./path.ts";

/**
 * What a request says of a user, by the attribute's name in lower case, for instance `name.givenname`; null
 * takes a value away. Whatever nobody asks for is passed over: providers send much that a member does not have.
 */
export type Sheet = Map<string, Json>;

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const operationsMax = 100;

/** A whole user, as POST and PUT bring it; null is as good as left out (RFC 7643 2.5), save for what can be taken away. */
export function sheetOf(body: JsonObject): Sheet {
  checkSchema(body, userSchema);
  const sheet: Sheet = new Map();
  put(sheet, body);
  for (const [name, value] of sheet) if (value === null && name !== "externalid" && name !== "roles") sheet.delete(name);
  return sheet;
}

/**
 * What the operations of a PATCH come to, in their order (RFC 7644 3.5.2).
 *
 * @throws ScimFailure `invalidSyntax`, `invalidPath`, or `noTarget` for a removal of nothing in particular.
 */
export function patchSheet(body: JsonObject): Sheet {
  checkSchema(body, patchSchema);
  const operations = member(body, "operations");
  if (!Array.isArray(operations) || operations.length === 0) throw malformed("Operations must be a list of at least one operation");
  if (operations.length > operationsMax) throw malformed(`a PATCH has at most ${operationsMax} operations`);
  const sheet: Sheet = new Map();
  for (const operation of operations) apply(sheet, operation);
  return sheet;
}

function apply(sheet: Sheet, operation: Json): void {
  if (!isObject(operation)) throw malformed("each of Operations must be an object");
  const [op, path, value] = [member(operation, "op"), member(operation, "path"), member(operation, "value")];
  const verb = typeof op === "string" ? op.toLowerCase() : "";
  if (verb !== "add" && verb !== "replace" && verb !== "remove") throw malformed("op must be add, replace or remove");
  if (path !== undefined && path !== null && typeof path !== "string") throw malformed("path must be a string");
  if (path) putAt(sheet, path, verb === "remove" ? null : value);
  else if (verb === "remove") throw new ScimFailure("noTarget", "remove needs a path");
  else if (isObject(value)) put(sheet, value);
  else throw malformed(`${verb} without a path needs an object`);
}

function putAt(sheet: Sheet, path: string, value: Json | undefined): void {
  const name = attributeOf(path);
  if (name === null) throw new ScimFailure("invalidPath", "path does not name an attribute");
  if (value === undefined) throw malformed("add and replace need a value");
  putAttribute(sheet, name, value);
}

/** The members of an object, whose names may be paths too: Entra ID sends `name.givenName` so. */
function put(sheet: Sheet, attributes: JsonObject): void {
  for (const [path, value] of Object.entries(attributes)) {
    const name = attributeOf(path);
    if (name !== null) putAttribute(sheet, name, value);
  }
}

function putAttribute(sheet: Sheet, name: string, value: Json): void {
  if (name === "name" && isObject(value)) for (const [part, text] of Object.entries(value)) sheet.set(`name.${part.toLowerCase()}`, text);
  else sheet.set(name === "roles.value" ? "roles" : name, value);
}

/** A body that names schemas names the one that is meant. */
function checkSchema(body: JsonObject, schema: string): void {
  const schemas = member(body, "schemas");
  if (schemas === undefined) return;
  const named = Array.isArray(schemas) && schemas.some((name) => typeof name === "string" && name.toLowerCase() === schema.toLowerCase());
  if (!named) throw malformed(`schemas must name ${schema}`);
}

/** A member of a message, whose names are read whatever their case too. */
function member(object: JsonObject, name: string): Json | undefined {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}

/** @returns whether it has members. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const malformed = (message: string): ScimFailure => new ScimFailure("invalidSyntax", message);
