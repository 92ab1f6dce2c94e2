import { create } from "@bufbuild/protobuf";
import { type Role, roles } from "../../core/accounts/account.ts";
import { failureOf } from "../../core/failure.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { GrantableRole, TeamUser, TeamUserChange } from "../../core/teams/team-user.ts";
import { GetUserRequestSchema } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import { validate } from "../../pipeline/validate.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { booleanOf, isStorable, type ScimUserInput } from "./user-input.ts";

/** The requested state of a member; omitted attributes do not change. */
export interface MemberInput {
  readonly userName?: string | undefined;
  /** Null: remove it. */
  readonly externalId?: string | null | undefined;
  readonly active?: boolean | undefined;
  /** Null: remove any role above member. */
  readonly role?: Role | null | undefined;
  readonly name?: string | undefined;
}

const nameMax = 255;
const externalIdMax = 255;

/**
 * Reads the attributes that a team stores for a user.
 *
 * @throws ScimFailure `invalidValue`; `mutability` for attributes that cannot be removed.
 */
export const memberInputOf = (input: ScimUserInput): MemberInput => ({
  userName: readUserName(input.get("username")),
  externalId: readExternalId(input.get("externalid")),
  active: readActive(input.get("active")),
  role: readRole(input.get("roles")),
  name: readName(input),
});

function readUserName(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) throw cannotRemove("userName");
  if (typeof value !== "string") throw invalidValue("userName", "must be a string");
  try {
    validate(GetUserRequestSchema, create(GetUserRequestSchema, { email: value }));
  } catch (thrown) {
    if (failureOf(thrown).reason !== "invalid_argument") throw thrown;
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
  if (value === null) throw cannotRemove("active");
  const active = booleanOf(value);
  if (active === undefined) throw invalidValue("active", "must be true or false");
  return active;
}

/**
 * Reads the role. A member has one role: the only value, or the primary one of several. It is a text, an
 * object with `value`, or a list of either.
 */
function readRole(value: Json | undefined): Role | null | undefined {
  if (value === undefined) return undefined;
  const items = [value].flat().filter((item) => item !== null);
  if (items.length === 0) return null;
  const primary = items.filter((item) => isObject(item) && booleanOf(item["primary"]) === true);
  const names = new Set((primary.length > 0 ? primary : items).map(roleName));
  const role = roles.find((known) => names.has(known));
  if (names.size !== 1 || !role) throw invalidValue("roles", `must be one of ${roles.join(", ")}`);
  return role;
}

function roleName(item: Json): string {
  const name = isObject(item) ? item["value"] : item;
  return typeof name === "string" ? name.toLowerCase() : "";
}

/** Reads the name. A team has one name for a person: the display name, or else its parts. */
function readName(input: ScimUserInput): string | undefined {
  const [displayName, formatted, given, family] = [
    "displayname",
    "name.formatted",
    "name.givenname",
    "name.familyname",
  ].map((part) => readPart(part, input.get(part)));
  const name = displayName || formatted || [given, family].filter(Boolean).join(" ");
  if (name && name.length > nameMax) throw invalidValue("name", `must be at most ${nameMax} characters`);
  return name || undefined;
}

const readPart = (path: string, value: Json | undefined): string =>
  value === undefined || value === null ? "" : readText(path, value, nameMax).trim();

function readText(path: string, value: Json, max: number): string {
  if (!isStorable(value)) throw invalidValue(path, "must be a string without U+0000 or a lone surrogate");
  if (value.length > max) throw invalidValue(path, `must be at most ${max} characters`);
  return value;
}

const cannotRemove = (attribute: string): ScimFailure =>
  new ScimFailure("mutability", `${attribute} cannot be removed`);

/**
 * The changes from a member's current state to the requested one; null for no change, or only a new name.
 *
 * @throws ScimFailure `invalidValue` for the owner's role; `mutability` for the address of a delegated
 * profile.
 */
export function changesOf(user: TeamUser, requested: MemberInput): TeamUserChange | null {
  const active = user.status === "active";
  const changes: TeamUserChange = {
    ...(requested.active === undefined || requested.active === active
      ? {}
      : { status: requested.active ? "active" : "inactive" }),
    ...(requested.externalId === undefined || requested.externalId === user.externalId
      ? {}
      : { externalId: requested.externalId }),
    ...roleChange(user, requested.role),
    ...addressChange(user, requested.userName),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}

/** The change of the role. Removing a role leaves a guest a guest and makes any other role member. */
function roleChange({ role }: TeamUser, requested: MemberInput["role"]): Pick<TeamUserChange, "role"> {
  const next = requested === null ? (role === "guest" ? "guest" : "member") : requested;
  return next === undefined || next === role ? {} : { role: checkGrantable(next) };
}

/**
 * Checks that a role can be granted. @throws ScimFailure `invalidValue` for owner and super admin, which SCIM
 * cannot grant.
 */
export function checkGrantable(role: Role): GrantableRole {
  if (role === "owner") throw invalidValue("roles", "the owner's role cannot be granted through SCIM");
  if (role === "super_admin")
    throw invalidValue("roles", "the role of a super admin cannot be granted through SCIM");
  return role;
}

/**
 * The change of the address. The provider cannot set the address of a delegated profile. It may continue to
 * send the address from before the delegation, which changes nothing.
 */
function addressChange(
  { email, delegation }: TeamUser,
  requested: string | undefined,
): Pick<TeamUserChange, "email"> {
  if (requested === undefined || sameAddress(requested, email)) return {};
  if (delegation === null) return { email: requested };
  if (sameAddress(requested, delegation.originalEmail)) return {};
  throw new ScimFailure("mutability", "userName: the profile is delegated; the platform sets its address");
}

const sameAddress = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
