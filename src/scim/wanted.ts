import { create } from "@bufbuild/protobuf";
import { validate } from "../call/validate.ts";
import { type Role, roles } from "../core/accounts/account.ts";
import { failureOf } from "../core/failure.ts";
import type { Json } from "../core/json.ts";
import { GetUserRequestSchema } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { isObject, type Sheet } from "./sheet.ts";
import { isText, truthOf } from "./value.ts";

/** What a request wants a member to be; what it leaves out stays as it is. */
export interface Wanted {
  readonly userName?: string | undefined;
  /** Null: none. */
  readonly externalId?: string | null | undefined;
  readonly active?: boolean | undefined;
  /** Null: none that is above a member's. */
  readonly role?: Role | null | undefined;
  readonly name?: string | undefined;
}

const nameMax = 255;
const externalIdMax = 255;

/**
 * Reads what a team keeps of a user.
 *
 * @throws ScimFailure `invalidValue`; `mutability` for what cannot be taken away.
 */
export const wantedOf = (sheet: Sheet): Wanted => ({
  userName: readUserName(sheet.get("username")),
  externalId: readExternalId(sheet.get("externalid")),
  active: readActive(sheet.get("active")),
  role: readRole(sheet.get("roles")),
  name: readName(sheet),
});

function readUserName(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) throw cannotGo("userName");
  if (typeof value !== "string") throw invalidValue("userName", "must be a string");
  try {
    validate(GetUserRequestSchema, create(GetUserRequestSchema, { email: value }));
  } catch (thrown) {
    if (failureOf(thrown).reason !== "invalid") throw thrown;
    throw invalidValue("userName", "must be an e-mail address of at most 254 characters");
  }
  return value;
}

function readExternalId(value: Json | undefined): string | null | undefined {
  if (value === undefined || value === null) return value;
  return value === "" ? null : readText("externalId", value, externalIdMax);
}

function readActive(value: Json | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === null) throw cannotGo("active");
  const active = truthOf(value);
  if (active === undefined) throw invalidValue("active", "must be true or false");
  return active;
}

/**
 * A member has one role: the one value, or of several the primary one. It comes as a text, an object with
 * `value`, or a list of either.
 */
function readRole(value: Json | undefined): Role | null | undefined {
  if (value === undefined) return undefined;
  const given = [value].flat().filter((item) => item !== null);
  if (given.length === 0) return null;
  const primary = given.filter((item) => isObject(item) && truthOf(item["primary"]) === true);
  const names = new Set((primary.length > 0 ? primary : given).map(roleName));
  const role = roles.find((known) => names.has(known));
  if (names.size !== 1 || !role) throw invalidValue("roles", `must be one of ${roles.join(", ")}`);
  return role;
}

function roleName(item: Json): string {
  const name = isObject(item) ? item["value"] : item;
  return typeof name === "string" ? name.toLowerCase() : "";
}

/** A team has one name for a person: what is to be shown, or else the parts. */
function readName(sheet: Sheet): string | undefined {
  const [shown, formatted, given, family] = ["displayname", "name.formatted", "name.givenname", "name.familyname"].map((part) =>
    readPart(part, sheet.get(part)),
  );
  const name = shown || formatted || [given, family].filter(Boolean).join(" ");
  if (name && name.length > nameMax) throw invalidValue("name", `must be at most ${nameMax} characters`);
  return name || undefined;
}

const readPart = (path: string, value: Json | undefined): string =>
  value === undefined || value === null ? "" : readText(path, value, nameMax).trim();

function readText(path: string, value: Json, max: number): string {
  if (!isText(value)) throw invalidValue(path, "must be a string without U+0000 or a lone surrogate");
  if (value.length > max) throw invalidValue(path, `must be at most ${max} characters`);
  return value;
}

const cannotGo = (what: string): ScimFailure => new ScimFailure("mutability", `${what} cannot be taken away`);
