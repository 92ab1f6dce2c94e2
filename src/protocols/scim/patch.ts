import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { ScimFailure } from "./failure.ts";

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const operationsMax = 100;

/** An operation of a PATCH (RFC 7644 3.5.2). */
export interface PatchOperation {
  readonly verb: "add" | "replace" | "remove";
  /** Absent: the value is an object with attributes. */
  readonly path: string | undefined;
  readonly value: Json | undefined;
}

/**
 * Reads the operations of a PATCH, in their order (RFC 7644 3.5.2).
 *
 * @throws ScimFailure `invalidSyntax`, or `noTarget` for a removal without a path.
 */
export function readOperations(body: JsonObject): PatchOperation[] {
  checkSchema(body, patchSchema);
  const operations = memberOf(body, "operations");
  if (!Array.isArray(operations) || operations.length === 0)
    throw malformed("Operations must be a list of at least one operation");
  if (operations.length > operationsMax)
    throw malformed(`Operations must be a list of at most ${operationsMax} operations`);
  return operations.map(readOperation);
}

function readOperation(operation: Json): PatchOperation {
  if (!isObject(operation)) throw malformed("each of Operations must be an object");
  const [op, path, value] = [
    memberOf(operation, "op"),
    memberOf(operation, "path"),
    memberOf(operation, "value"),
  ];
  const verb = typeof op === "string" ? op.toLowerCase() : "";
  if (verb !== "add" && verb !== "replace" && verb !== "remove")
    throw malformed("op must be add, replace or remove");
  if (path !== undefined && path !== null && typeof path !== "string")
    throw malformed("path must be a string");
  if (!path && verb === "remove") throw new ScimFailure("noTarget", "remove requires a path");
  if (!path && !isObject(value)) throw malformed(`${verb} without a path requires an object`);
  return { verb, path: path || undefined, value };
}

/** Checks that `schemas`, when present, names the expected schema. */
export function checkSchema(body: JsonObject, schema: string): void {
  const schemas = memberOf(body, "schemas");
  if (schemas === undefined) return;
  const isNamed =
    Array.isArray(schemas) &&
    schemas.some((name) => typeof name === "string" && name.toLowerCase() === schema.toLowerCase());
  if (!isNamed) throw malformed(`schemas must name ${schema}`);
}

/** A member of a message; names are case-insensitive. @param name in lower case. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];
}

export const malformed = (message: string): ScimFailure => new ScimFailure("invalidSyntax", message);
