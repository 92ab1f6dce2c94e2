import { createHash } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../core/json.ts";
import type { Store, Tx } from "../../core/store.ts";
import type { TeamUser, TeamUserFilter, TeamUsers } from "../../core/teams/team-user.ts";
import { TeamUserManagementApiV2Service } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import type { Admission } from "../../pipeline/admission.ts";
import type { WriteAudit } from "../../pipeline/audit.ts";
import type { Operation } from "../../pipeline/operations.ts";
import { invalidValue, VersionMismatch } from "./failure.ts";
import { filterReader } from "./filter.ts";
import { changesOf, checkGrantable, type MemberInput, memberInputOf } from "./member-input.ts";
import { isCurrent, type ScimPage, type ScimTarget } from "./request.ts";
import { booleanOf, isStorable, patchUserInput, type ScimUserInput, userInputOf } from "./user-input.ts";

/** The conditions of a filter; a member must match all of them. */
type Conditions = Pick<TeamUserFilter, "email" | "externalId" | "status">;

/**
 * Reads `userName eq "…"`, `externalId eq "…"`, `emails.value eq "…"` and `active eq true`, alone or joined
 * by `and`.
 *
 * @throws ScimFailure `invalidFilter` for any other filter.
 */
export const readFilter = filterReader<Conditions>(
  'userName eq "…", externalId eq "…" and active eq true or false',
  {
    username: (value) => isStorable(value) && { email: value },
    "emails.value": (value) => isStorable(value) && { email: value },
    externalid: (value) => isStorable(value) && { externalId: value },
    active(value) {
      const active = booleanOf(value);
      return active !== undefined && { status: active ? "active" : "inactive" };
    },
  },
);

/** A user in SCIM (RFC 7643 4.1). */
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
 * A delegated profile has its delegate address as `userName`, because only that address finds it
 * (spec/enterprise.md 5). Its `externalId` does not change, so its provider still finds it. The profiles that
 * a member holds are not shown.
 *
 * @param base the URL of SCIM, for instance `https://platform.example/scim/v2`.
 */
function scimUser(user: TeamUser, base: string): ScimUser {
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
  return {
    ...attributes,
    meta: { resourceType: "User", created: new Date(createdAt).toISOString(), location, version },
  };
}

/**
 * Splits a name. A team has one name for a person: its first word is the given name, the rest the family
 * name.
 */
function nameParts(name: string): { readonly givenName: string; readonly familyName?: string } {
  const blank = name.indexOf(" ");
  return blank === -1
    ? { givenName: name }
    : { givenName: name.slice(0, blank), familyName: name.slice(blank + 1) };
}

/** A weak entity tag, which changes with any shown attribute. */
const versionOf = (attributes: object): string =>
  `W/"${createHash("sha256").update(JSON.stringify(attributes)).digest("base64url").slice(0, 22)}"`;

const { createUser, updateUser, renameProfile, removeMember } = TeamUserManagementApiV2Service.method;

export interface ScimUsersParts {
  readonly store: Store;
  readonly teamUsers: Pick<TeamUsers, "list" | "find" | "create" | "update" | "rename" | "remove">;
  readonly writeAudit: WriteAudit;
  readonly operationOf: (method: DescMethod) => Operation;
  /** The URL of SCIM, for instance `https://platform.example/scim/v2`. */
  readonly base: string;
}

/**
 * Users of SCIM as members of the caller's team (spec/decisions.md 45). Each change is one transaction with
 * an audit row for each team operation in it.
 *
 * All methods throw Failure `not_found` for an id that is not in the team, or of a removed member.
 */
export interface ScimUsers {
  list(
    admission: Admission,
    page: ScimPage<Conditions>,
  ): Promise<{ readonly users: readonly ScimUser[]; readonly total: number }>;
  get(admission: Admission, id: string): Promise<ScimUser>;
  /** @throws Failure `already_exists` for an address or an external id that a member has. */
  create(admission: Admission, body: JsonObject): Promise<ScimUser>;
  replace(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimUser>;
  patch(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimUser>;
  remove(admission: Admission, target: ScimTarget): Promise<void>;
}

export function scimUsers({ store, teamUsers, writeAudit, operationOf, base }: ScimUsersParts): ScimUsers {
  const show = (user: TeamUser): ScimUser => scimUser(user, base);
  const audit = (tx: Tx, admission: Admission, method: DescMethod) =>
    writeAudit(tx, { ...admission, operation: operationOf(method) });

  /**
   * Locks the space before it reads the member, so that the state that was read is valid until the change is
   * made.
   */
  async function lockMember(tx: Tx, { caller }: Admission, { id, ifMatch }: ScimTarget): Promise<TeamUser> {
    await tx.accounts.lockSpace(caller.spaceId);
    const { user } = await teamUsers.find(tx, caller, { id });
    if (!isCurrent(ifMatch, show(user).meta.version)) throw new VersionMismatch("user");
    return user;
  }

  const change = (
    admission: Admission,
    target: ScimTarget,
    fill: (user: TeamUser) => ScimUserInput,
  ): Promise<ScimUser> =>
    store.change(async (tx) => {
      const user = await lockMember(tx, admission, target);
      return show(await applyInput(tx, admission, user, memberInputOf(fill(user))));
    });

  async function applyInput(
    tx: Tx,
    admission: Admission,
    user: TeamUser,
    requested: MemberInput,
  ): Promise<TeamUser> {
    const { caller } = admission;
    const { id } = user;
    const changes = changesOf(user, await withoutMappedRole(tx, user, requested));
    const newName = requested.name !== undefined && requested.name !== user.name ? requested.name : undefined;
    if (changes) await teamUsers.update(tx, caller, { id }, changes);
    else tx.audit.note({ subject: id });
    if (changes || newName === undefined) await audit(tx, admission, updateUser);
    if (newName !== undefined) {
      await teamUsers.rename(tx, caller, id, newName);
      await audit(tx, admission, renameProfile);
    }
    return (await teamUsers.find(tx, caller, { id })).user;
  }

  return {
    async list({ caller }, { conditions, startIndex, count }) {
      const { users, total } = await teamUsers.list(store, caller, {
        ...conditions,
        limit: Math.max(count, 1),
        offset: startIndex - 1,
      });
      return { users: users.slice(0, count).map(show), total };
    },

    get: async ({ caller }, id) => show((await teamUsers.find(store, caller, { id })).user),

    create: (admission, body) =>
      store.change(async (tx) => {
        const { caller } = admission;
        const { userName, externalId, active, role, name } = memberInputOf(userInputOf(body));
        if (userName === undefined) throw invalidValue("userName", "is required");
        const made = {
          email: userName,
          role: checkGrantable(role ?? "member"),
          name,
          externalId: externalId ?? undefined,
        };
        const user = await teamUsers.create(tx, caller, made);
        await audit(tx, admission, createUser);
        return show(active === false ? await applyInput(tx, admission, user, { active }) : user);
      }),

    replace: (admission, target, body) =>
      change(admission, target, () => {
        const input = userInputOf(body);
        if (!input.has("username")) throw invalidValue("userName", "is required");
        return input;
      }),

    patch: (admission, target, body) =>
      change(admission, target, ({ name }) => withBothNames(patchUserInput(body), name ?? "")),

    remove: (admission, target) =>
      store.change(async (tx) => {
        const { id } = await lockMember(tx, admission, target);
        await teamUsers.remove(tx, admission.caller, id);
        await audit(tx, admission, removeMember);
      }),
  };
}

/** Removing the role of a person changes nothing when the person's groups give one. */
const withoutMappedRole = async (
  tx: Tx,
  { id }: TeamUser,
  { role, ...requested }: MemberInput,
): Promise<MemberInput> =>
  role === null && (await tx.groups.roleOf(id)) !== null ? requested : { ...requested, role };

/** Adds the current parts of the name when only one part changes. */
function withBothNames(input: ScimUserInput, name: string): ScimUserInput {
  const { givenName, familyName = "" } = nameParts(name);
  if (!input.has("name.givenname") && !input.has("name.familyname")) return input;
  return new Map([["name.givenname", givenName], ["name.familyname", familyName], ...input]);
}
