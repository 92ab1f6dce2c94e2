import type { DescMethod } from "@bufbuild/protobuf";
import type { Admission } from "../call/admit.ts";
import type { WriteAudit } from "../call/audit.ts";
import type { JsonObject } from "../core/json.ts";
import type { Store, Tx } from "../core/store.ts";
import type { TeamUser, TeamUsers } from "../core/teams/team-user.ts";
import { TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import type { Operation } from "../operations.ts";
import { changesOf, granted } from "./changes.ts";
import { invalidValue, VersionMismatch } from "./failure.ts";
import type { Meant } from "./filter.ts";
import { patchSheet, type Sheet, sheetOf } from "./sheet.ts";
import { nameParts, type ScimUser, scimUser } from "./user.ts";
import { type Wanted, wantedOf } from "./wanted.ts";

const { createUser, updateUser, renameProfile, removeMember } = TeamUserManagementApiV2Service.method;

/** What provisioning needs of the rest. */
export interface ScimUsersParts {
  readonly store: Store;
  readonly teamUsers: Pick<TeamUsers, "list" | "find" | "create" | "update" | "rename" | "remove">;
  readonly writeAudit: WriteAudit;
  readonly operationOf: (method: DescMethod) => Operation;
  /** Where SCIM is, for instance `https://platform.example/scim/v2`. */
  readonly base: string;
}

/** Which users, and which page of them. */
export interface ScimPage {
  readonly meant: Meant;
  /** From 1. */
  readonly startIndex: number;
  /** From 0. */
  readonly count: number;
}

/** Whom a request means: the id, and the version that `If-Match` names; null where it names none. */
export interface ScimTarget {
  readonly id: string;
  readonly ifMatch: string | null;
}

/**
 * Users of SCIM as members of the caller's team (contract/decisions.md 45). Each change is one transaction,
 * with an audit row for each operation of a team that it comes to.
 *
 * Failures of all: `absent` for nobody of the team, and for who was removed.
 */
export interface ScimUsers {
  list(admission: Admission, page: ScimPage): Promise<{ readonly users: readonly ScimUser[]; readonly total: number }>;
  get(admission: Admission, id: string): Promise<ScimUser>;
  /** @throws Failure `exists` for an address or an external id that a member has. */
  create(admission: Admission, body: JsonObject): Promise<ScimUser>;
  replace(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimUser>;
  patch(admission: Admission, target: ScimTarget, body: JsonObject): Promise<ScimUser>;
  remove(admission: Admission, target: ScimTarget): Promise<void>;
}

export function scimUsers({ store, teamUsers, writeAudit, operationOf, base }: ScimUsersParts): ScimUsers {
  const show = (user: TeamUser): ScimUser => scimUser(user, base);
  const audit = (tx: Tx, admission: Admission, method: DescMethod) => writeAudit(tx, { ...admission, operation: operationOf(method) });

  /** The space is locked before anybody is looked at: what was seen holds until the change is made. */
  async function present(tx: Tx, { caller }: Admission, { id, ifMatch }: ScimTarget): Promise<TeamUser> {
    await tx.accounts.lockSpace(caller.spaceId);
    const { user } = await teamUsers.find(tx, caller, { id });
    if (ifMatch !== null && !matches(ifMatch, show(user))) throw new VersionMismatch();
    return user;
  }

  const change = (admission: Admission, target: ScimTarget, fill: (user: TeamUser) => Sheet): Promise<ScimUser> =>
    store.change(async (tx) => {
      const user = await present(tx, admission, target);
      return show(await become(tx, admission, user, wantedOf(fill(user))));
    });

  async function become(tx: Tx, admission: Admission, user: TeamUser, wanted: Wanted): Promise<TeamUser> {
    const { caller } = admission;
    const { id } = user;
    const changes = changesOf(user, wanted);
    const renamed = wanted.name !== undefined && wanted.name !== user.name ? wanted.name : undefined;
    if (changes) await teamUsers.update(tx, caller, { id }, changes);
    else tx.audit.note({ subject: id });
    if (changes || renamed === undefined) await audit(tx, admission, updateUser);
    if (renamed !== undefined) {
      await teamUsers.rename(tx, caller, id, renamed);
      await audit(tx, admission, renameProfile);
    }
    return (await teamUsers.find(tx, caller, { id })).user;
  }

  return {
    async list({ caller }, { meant, startIndex, count }) {
      const { users, total } = await teamUsers.list(store, caller, { ...meant, limit: Math.max(count, 1), offset: startIndex - 1 });
      return { users: users.slice(0, count).map(show), total };
    },

    get: async ({ caller }, id) => show((await teamUsers.find(store, caller, { id })).user),

    create: (admission, body) =>
      store.change(async (tx) => {
        const { caller } = admission;
        const { userName, externalId, active, role, name } = wantedOf(sheetOf(body));
        if (userName === undefined) throw invalidValue("userName", "is required");
        const made = { email: userName, role: granted(role ?? "member"), name, externalId: externalId ?? undefined };
        const user = await teamUsers.create(tx, caller, made);
        await audit(tx, admission, createUser);
        return show(active === false ? await become(tx, admission, user, { active }) : user);
      }),

    replace: (admission, target, body) =>
      change(admission, target, () => {
        const sheet = sheetOf(body);
        if (!sheet.has("username")) throw invalidValue("userName", "is required");
        return sheet;
      }),

    patch: (admission, target, body) => change(admission, target, ({ name }) => withBothParts(patchSheet(body), name ?? "")),

    remove: (admission, target) =>
      store.change(async (tx) => {
        const { id } = await present(tx, admission, target);
        await teamUsers.remove(tx, admission.caller, id);
        await audit(tx, admission, removeMember);
      }),
  };
}

/** One part of a name alone changes the whole: the other part stays. */
function withBothParts(sheet: Sheet, name: string): Sheet {
  const { givenName, familyName = "" } = nameParts(name);
  if (!sheet.has("name.givenname") && !sheet.has("name.familyname")) return sheet;
  return new Map([["name.givenname", givenName], ["name.familyname", familyName], ...sheet]);
}

/** Weakly compared, as entity tags of SCIM are (RFC 7644 3.14). */
const matches = (ifMatch: string, { meta }: ScimUser): boolean =>
  ifMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === meta.version.replace(/^W\//, ""));
