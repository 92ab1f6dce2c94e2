import type { DescMethod } from "@bufbuild/protobuf";
import type { JsonObject } from "../../core/json.ts";
import type { Store, Tx } from "../../core/store.ts";
import type {
  Group,
  GroupFilter,
  GroupInput,
  GroupMember,
  Groups,
  ListedGroup,
} from "../../core/teams/group.ts";
import { TeamUserManagementApiV2Service } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import type { Admission } from "../../pipeline/admission.ts";
import type { WriteAudit } from "../../pipeline/audit.ts";
import type { Operation } from "../../pipeline/operations.ts";
import { VersionMismatch } from "./failure.ts";
import { filterReader } from "./filter.ts";
import { groupInputOf, patchGroupInput } from "./group-input.ts";
import { isCurrent, type ScimPage, type ScimTarget } from "./request.ts";
import { isStorable } from "./user-input.ts";

/** The conditions of a filter; a group must match all of them. */
type Conditions = Pick<GroupFilter, "id" | "displayName" | "externalId" | "memberId">;

/** The members of all groups on a page. A page ends before the group that would exceed it. */
const pageMembersMax = 10_000;

const ofMember = (value: unknown) => isStorable(value) && { memberId: value };

/**
 * Reads `displayName eq "…"`, `externalId eq "…"`, `id eq "…"` and `members eq "…"`, alone or joined by
 * `and`. Entra ID asks by id and member whether a person is in a group.
 *
 * @throws ScimFailure `invalidFilter` for any other filter.
 */
export const readGroupFilter = filterReader<Conditions>(
  'displayName eq "…", externalId eq "…", id eq "…" and members.value eq "…"',
  {
    displayname: (value) => isStorable(value) && { displayName: value },
    externalid: (value) => isStorable(value) && { externalId: value },
    id: (value) => isStorable(value) && { id: value },
    members: ofMember,
    "members.value": ofMember,
  },
);

/** A group in SCIM (RFC 7643 4.2). */
export interface ScimGroup {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly displayName: string;
  readonly externalId?: string;
  readonly members?: readonly Readonly<Record<"value" | "display" | "type" | "$ref", string>>[];
  readonly meta: {
    readonly resourceType: "Group";
    /** RFC 3339. */
    readonly created: string;
    readonly lastModified: string;
    readonly location: string;
    readonly version: string;
  };
}

/** @param members null when they are not shown. @param base the URL of SCIM. */
function scimGroup(
  { id, displayName, externalId, createdAt, updatedAt }: Group,
  members: readonly GroupMember[] | null,
  base: string,
): ScimGroup {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
    id,
    displayName,
    ...(externalId === null ? {} : { externalId }),
    ...(members && {
      members: members.map(({ id: value, display }) => ({
        value,
        display,
        type: "User",
        $ref: `${base}/Users/${value}`,
      })),
    }),
    meta: {
      resourceType: "Group",
      created: new Date(createdAt).toISOString(),
      lastModified: new Date(updatedAt).toISOString(),
      location: `${base}/Groups/${id}`,
      version: `W/"${updatedAt.toString(36)}"`,
    },
  };
}

/** The first groups of a page that have at most `pageMembersMax` members together, at least one group. */
function boundedPage(groups: readonly ListedGroup[]): readonly ListedGroup[] {
  let [members, end] = [0, 0];
  for (const group of groups) {
    members += group.members;
    if (end > 0 && members > pageMembersMax) break;
    end += 1;
  }
  return groups.slice(0, end);
}

export interface ScimGroupsParts {
  readonly store: Store;
  readonly groups: Groups;
  readonly writeAudit: WriteAudit;
  readonly operationOf: (method: DescMethod) => Operation;
  /** The URL of SCIM, for instance `https://platform.example/scim/v2`. */
  readonly base: string;
}

/**
 * Groups of SCIM in the caller's team (spec/decisions.md 66). Each change is one transaction with an audit
 * row.
 *
 * All methods throw Failure `not_found` for an id that is not in the team.
 */
export interface ScimGroups {
  /** Short when the groups have many members. */
  list(
    admission: Admission,
    page: ScimPage<Conditions>,
    withMembers: boolean,
  ): Promise<{ readonly groups: readonly ScimGroup[]; readonly total: number }>;
  get(admission: Admission, id: string, withMembers: boolean): Promise<ScimGroup>;
  create(admission: Admission, body: JsonObject): Promise<ScimGroup>;
  replace(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimGroup>;
  patch(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimGroup>;
  remove(admission: Admission, target: ScimTarget): Promise<void>;
}

export function scimGroups({ store, groups, writeAudit, operationOf, base }: ScimGroupsParts): ScimGroups {
  /** The audit rows of group changes have separate names: no operation changes a group. */
  const audit = (tx: Tx, admission: Admission, rpc: "CreateGroup" | "UpdateGroup" | "DeleteGroup") =>
    writeAudit(tx, {
      ...admission,
      operation: { ...operationOf(TeamUserManagementApiV2Service.method.updateUser), rpc: `scim/${rpc}` },
    });

  const membersOf = async (tx: Tx, { id }: Group): Promise<readonly GroupMember[]> =>
    groups.members(tx, [id]);

  /**
   * Locks the space before it reads the group, so that the state that was read is valid until the change is
   * made.
   */
  async function lockGroup(tx: Tx, { caller }: Admission, { id, ifMatch }: ScimTarget): Promise<Group> {
    await tx.accounts.lockSpace(caller.spaceId);
    const group = await groups.find(tx, caller, id);
    if (!isCurrent(ifMatch, scimGroup(group, null, base).meta.version)) throw new VersionMismatch("group");
    return group;
  }

  const change = (
    admission: Admission,
    target: ScimTarget,
    read: (members: ReadonlySet<string>) => GroupInput,
  ): Promise<ScimGroup> =>
    store.change(async (tx) => {
      const group = await lockGroup(tx, admission, target);
      const input = read(new Set((await membersOf(tx, group)).map(({ id }) => id)));
      const changed = await groups.update(tx, admission.caller, group.id, input);
      await audit(tx, admission, "UpdateGroup");
      return scimGroup(changed, await membersOf(tx, changed), base);
    });

  return {
    async list({ caller }, { conditions, startIndex, count }, withMembers) {
      const { groups: found, total } = await groups.list(store, caller, {
        ...conditions,
        limit: Math.max(count, 1),
        offset: startIndex - 1,
      });
      const page = withMembers ? boundedPage(found.slice(0, count)) : found.slice(0, count);
      const ids = page.map(({ id }) => id);
      const byGroup = withMembers
        ? Map.groupBy(await groups.members(store, ids), ({ groupId }) => groupId)
        : null;
      return {
        groups: page.map((group) => scimGroup(group, byGroup && (byGroup.get(group.id) ?? []), base)),
        total,
      };
    },

    async get({ caller }, id, withMembers) {
      const group = await groups.find(store, caller, id);
      return scimGroup(group, withMembers ? await membersOf(store, group) : null, base);
    },

    create: (admission, body) =>
      store.change(async (tx) => {
        const group = await groups.create(tx, admission.caller, groupInputOf(body));
        await audit(tx, admission, "CreateGroup");
        return scimGroup(group, await membersOf(tx, group), base);
      }),

    replace: (admission, target, body) => change(admission, target, () => groupInputOf(body)),

    patch: (admission, target, body) =>
      change(admission, target, (members) => patchGroupInput(body, members)),

    remove: (admission, target) =>
      store.change(async (tx) => {
        const { id } = await lockGroup(tx, admission, target);
        await groups.remove(tx, admission.caller, id);
        await audit(tx, admission, "DeleteGroup");
      }),
  };
}
