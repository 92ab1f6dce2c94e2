import { createHash } from "node:crypto";
import type { TeamUser } from "../core/teams/team-user.ts";

/** A user as SCIM shows it (RFC 7643 4.1). */
export interface ScimUser {
  readonly id: string;
  readonly meta: {
    readonly resourceType: "User";
    /** RFC 3339. */
    readonly created: string;
    readonly location: string;
    readonly version: string;
  };
}

/**
 * A member as a SCIM user.
 *
 * A profile that is delegated has its delegate address as `userName`, because it is found by that one alone
 * (contract/enterprise.md 5); its `externalId` stays, by which its provider knows it still. The profiles that
 * a member holds are not shown.
 *
 * @param base where SCIM is, for instance `https://platform.example/scim/v2`.
 */
export function scimUser(user: TeamUser, base: string): ScimUser {
  const { id, email, name, status, role, externalId, createdAt } = user;
  const attributes = {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    id,
    ...(externalId === null ? {} : { externalId }),
    userName: email,
    ...(name === null ? {} : { displayName: name, name: { formatted: name, ...nameParts(name) } }),
    emails: [{ value: email, type: "work", primary: true }],
    active: status === "active",
    roles: [{ value: role, primary: true }],
  };
  const location = `${base}/Users/${id}`;
  const version = versionOf(attributes);
  return { ...attributes, meta: { resourceType: "User", created: new Date(createdAt).toISOString(), location, version } };
}

/** A team has one name for a person: its first word passes for the given name, the rest for the family's. */
export function nameParts(name: string): { readonly givenName: string; readonly familyName?: string } {
  const blank = name.indexOf(" ");
  return blank === -1 ? { givenName: name } : { givenName: name.slice(0, blank), familyName: name.slice(blank + 1) };
}

/** A weak entity tag: another one as soon as anything that is shown is another. */
const versionOf = (attributes: object): string =>
  `W/"${createHash("sha256").update(JSON.stringify(attributes)).digest("base64url").slice(0, 22)}"`;
