import type { JsonObject } from "@bufbuild/protobuf";
import type { Role } from "../../src/core/accounts/account.ts";
import { systemIds } from "../../src/core/ids.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { type SettingsRig, settingsRig } from "../settings/settings-rig.ts";
import type { DatabaseKind } from "../support/database.ts";
import type { Person, ServiceOptions } from "../support/service.ts";
import { callerOf } from "../wires/call.ts";

/** The wires on which the rows of the specification are tested. */
export const wires = ["v2", "connect-json", "grpc"] as const;
export type Wire = (typeof wires)[number];

const table = operationTable();

/** The outcome of a call: `ok`, or v2's status and code, or Connect's code. */
export async function outcomeOn(
  wire: Wire,
  who: Person,
  url: string,
  name: string,
  json: JsonObject,
): Promise<string> {
  const operation = table.all.find((each) => each.name === `team.user.${name}`);
  if (!operation) throw new Error(`no operation ${name}`);
  return (await callerOf(url)(wire, operation, { headers: who.headers, json })).outcome;
}

/** A team with a management key, for calls on its members. */
export interface Team {
  readonly owner: Person;
  /** The owner's Team User Management key. */
  readonly management: Person;
  readonly ownerId: string;
}

/** A member with a separate key. */
export interface Member extends Person {
  /** The `team_user_id`. */
  readonly id: string;
  readonly email: string;
}

export interface TeamsRig extends SettingsRig {
  team(): Promise<Team>;
  /** Adds a member over the wire; returns the user. */
  add(team: Team, more?: JsonObject): Promise<{ readonly team_user_id: string; readonly email: string }>;
  /** Adds a member with a key. */
  member(team: Team, role?: Role): Promise<Member>;
  /** A call with the management key that must succeed; returns its body. */
  ok(team: Team, name: string, body: JsonObject): Promise<JsonObject>;
  /** Deactivates the profile and delegates it. */
  delegateProfile(team: Team, id: string, to: string, role?: string): Promise<JsonObject>;
}

export const newEmail = (): string => `p-${systemIds.short().toLowerCase()}@corp.test`;
const roleName = (role: Role) => `TEAM_MEMBER_ROLE_${role.toUpperCase()}`;

export function teamsRig(database: DatabaseKind, options: ServiceOptions = {}): TeamsRig {
  const rig = settingsRig(database, options);
  const ok: TeamsRig["ok"] = async ({ management }, name, body) => {
    const reply = await management.v2(`team.user.${name}`, body);
    if (!reply.body.ok) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const add: TeamsRig["add"] = async (team, more = {}) => {
    const { user } = await ok(team, "create", {
      email: newEmail(),
      role: "TEAM_MEMBER_ROLE_MEMBER",
      ...more,
    });
    // As specified.
    return user as { team_user_id: string; email: string };
  };
  return Object.assign(Object.create(rig, Object.getOwnPropertyDescriptors(rig)) as SettingsRig, {
    ok,
    add,
    async team() {
      const owner = await rig.person();
      const management = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
      const row = await rig.service.store.accounts.ownerOf(owner.spaceId);
      return { owner, management, ownerId: row?.id ?? "" };
    },
    async member(team: Team, role: Role = "member") {
      const { team_user_id: id, email } = await add(team, { role: roleName(role) });
      const row = await rig.service.store.accounts.memberById(team.owner.spaceId, id);
      const self = { accountId: row?.accountId ?? "", spaceId: team.owner.spaceId };
      return { ...(await rig.person({ as: self, with: self })), id, email };
    },
    async delegateProfile(team: Team, id: string, to: string, role = "MIGRATED_PROFILE_ROLE_DEACTIVATED") {
      await ok(team, "update", { team_user_id: id, status: "USER_STATUS_INACTIVE" });
      return ok(team, "delegate", { team_user_id: id, target_team_user_id: to, role });
    },
  });
}
