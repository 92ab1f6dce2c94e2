import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { type GroupInput, groupMembersMax } from "../../core/teams/group.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { checkSchema, malformed, memberOf, readOperations } from "./patch.ts";
import { attributeOf, isStorable } from "./user-input.ts";

const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";
const textMax = 255;

type Draft = { -readonly [M in keyof GroupInput]: GroupInput[M] };

/** Reads the complete group of POST and PUT; an absent list of members is empty. */
export function groupInputOf(body: JsonObject): GroupInput & { readonly displayName: string } {
  checkSchema(body, groupSchema);
  const { displayName, externalId = null, members = new Set() } = put({}, body, new Set());
  if (displayName === undefined) throw invalidValue("displayName", "is required");
  return { displayName, externalId, members };
}

/**
 * Applies the operations of a PATCH in their order (RFC 7644 3.5.2), in the forms of Okta and of Entra ID,
 * which removes members by a value as well as by `members[value eq "…"]`.
 *
 * @throws ScimFailure `invalidSyntax`, `invalidPath`, `invalidValue`, `mutability`, or `noTarget`.
 */
export function patchGroupInput(body: JsonObject, current: ReadonlySet<string>): GroupInput {
  const draft: Draft = {};
  for (const { verb, path, value } of readOperations(body)) {
    const members = draft.members ?? current;
    if (path === undefined) {
      if (isObject(value)) put(draft, value, verb === "add" ? members : new Set());
    } else if (attributeOf(path) === "members") draft.members = nextMembers(members, verb, path, value);
    else putAt(draft, path, verb === "remove" ? null : value);
  }
  return draft;
}

/** The members after an operation. A removal without a value removes all. */
function nextMembers(
  members: ReadonlySet<string>,
  verb: "add" | "replace" | "remove",
  path: string,
  value: Json | undefined,
) {
  const selected = selectedMember(path);
  if (selected !== null && verb !== "remove")
    throw new ScimFailure("invalidPath", "members: a selection can only be removed");
  if (verb === "add") return checkCount(members.union(readMembers(value)));
  if (verb === "replace") return readMembers(value);
  if (selected !== null) return members.difference(new Set([selected]));
  return value === undefined || value === null ? new Set<string>() : members.difference(readMembers(value));
}

/** The id in `members[value eq "…"]`; null for a path without a selection. */
function selectedMember(path: string): string | null {
  if (!path.includes("[")) return null;
  const id = /\[\s*value\s+eq\s+"([^"\\]{1,128})"\s*\]$/i.exec(path.trim())?.[1];
  if (id === undefined)
    throw new ScimFailure("invalidPath", 'members: a selection must have the form members[value eq "…"]');
  return id;
}

/**
 * Puts the attributes of an object. Unused attributes are ignored, as those of users. @param members to which
 * its members are added.
 */
function put(draft: Draft, attributes: JsonObject, members: ReadonlySet<string>): Draft {
  for (const [path, value] of Object.entries(attributes)) {
    if (attributeOf(path) !== "members") putAt(draft, path, value);
    else if (value !== null) draft.members = checkCount(members.union(readMembers(value)));
  }
  return draft;
}

function putAt(draft: Draft, path: string, value: Json | undefined): void {
  const name = attributeOf(path);
  if (name === null) throw new ScimFailure("invalidPath", "path does not name an attribute");
  if (value === undefined) throw malformed("add and replace require a value");
  if (name === "displayname") draft.displayName = readDisplayName(value);
  if (name === "externalid")
    draft.externalId = value === null || value === "" ? null : readText("externalId", value);
}

function readDisplayName(value: Json): string {
  if (value === null) throw new ScimFailure("mutability", "displayName cannot be removed");
  const name = readText("displayName", value);
  if (name.trim() === "") throw invalidValue("displayName", "is required");
  return name;
}

function readText(path: string, value: Json): string {
  if (!isStorable(value) || value.length > textMax)
    throw invalidValue(
      path,
      `must be a string of at most ${textMax} characters without U+0000 or a lone surrogate`,
    );
  return value;
}

/** Reads members: an object with `value`, a text, or a list of either. */
function readMembers(value: Json | undefined): ReadonlySet<string> {
  const items = [value ?? []].flat();
  if (items.length > groupMembersMax) throw tooMany();
  return new Set(items.map(readMember));
}

function readMember(item: Json): string {
  const [id, type] = isObject(item) ? [memberOf(item, "value"), memberOf(item, "type")] : [item, undefined];
  if (typeof type === "string" && type.toLowerCase() !== "user")
    throw invalidValue("members", "must be users: groups have no groups");
  if (!isStorable(id) || id === "" || id.length > textMax)
    throw invalidValue("members", "must be objects with the id of a user as value");
  return id;
}

function checkCount(members: ReadonlySet<string>): ReadonlySet<string> {
  if (members.size > groupMembersMax) throw tooMany();
  return members;
}

const tooMany = (): ScimFailure => invalidValue("members", `must be at most ${groupMembersMax} users`);
