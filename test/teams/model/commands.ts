import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { Answer } from "./call.ts";
import type { Role, Status, Team } from "./members.ts";
import { idOf, type Pick, resolve } from "./picks.ts";
import { enrol, type Model, type Side } from "./rig.ts";
import * as rules from "./rules.ts";
import { type Command, commandOf } from "./step.ts";

const enumName = (prefix: string, rest: string | undefined): string => `${prefix}${rest ?? "UNSPECIFIED"}`;

/** By id, by address, by both, where the id counts, or by neither. */
export type By = "id" | "email" | "both" | "neither";

interface Ref {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
}

/** The member that a call names. */
export interface MemberChoice {
  readonly who: Pick;
  readonly by: By;
}

function refOf(model: Model, side: Side, { who, by }: MemberChoice): Ref {
  const member = resolve(model, side, who);
  const id = member?.id ?? "nobody";
  if (by === "neither") return {};
  if (by === "both") return { id, email: "other@corp.test" };
  return by === "id" ? { id } : { email: member?.email ?? "nobody@corp.test" };
}

const refBody = ({ id, email }: Ref): JsonObject => ({
  ...(id === undefined ? {} : { team_user_id: id }),
  ...(email === undefined ? {} : { email }),
});

/** The input of a list. */
export interface Listing {
  readonly status?: Status;
  readonly delegation?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** spec/enterprise.md 5.1. */
export const list = commandOf<Listing>("list", (filter) => {
  const { status, delegation, ...page } = filter;
  const filters = {
    ...(status ? { status_filter: enumName("USER_STATUS_", status) } : {}),
    ...(delegation ? { delegation_state: enumName("DELEGATION_STATE_", delegation) } : {}),
  };
  return { body: { ...filters, ...page }, rule: (team) => rules.list(team, filter) };
});

/** spec/enterprise.md 5.2. */
export const detail = commandOf<MemberChoice>("detail", (choice, model, _, side) => {
  const ref = refOf(model, side, choice);
  return { body: refBody(ref), rule: (team) => rules.detail(team, ref) };
});

/** The person to add: one of the run's persons, in lower or upper case. */
export interface NewMemberInput {
  readonly address: number;
  readonly isUpperCase: boolean;
  readonly role: Role | undefined;
  readonly names: Readonly<Record<string, string>>;
}

/** spec/enterprise.md 5.3. */
export const create = commandOf<NewMemberInput>(
  "create",
  ({ address, isUpperCase, role, names }, _model, { addresses }) => {
    const plain = addresses[address] ?? "";
    const email = isUpperCase ? plain.toUpperCase() : plain;
    const both = [names["first_name"], names["last_name"]].filter((part) => part !== undefined).join(" ");
    const name = both === "" ? names["user_name"] : both;
    return {
      body: { email, role: enumName("TEAM_MEMBER_ROLE_", role), ...names },
      rule: (team, power, { body }, at) =>
        rules.create(team, power, { email, role, name }, { id: newId(team, body), at }),
    };
  },
);

/** The id of a new member in an answer; it must be new. */
function newId(team: Team, body: Answer["body"]): string {
  // A refusal has no id; everything else is compared with the model.
  const { team_user_id: id } = (body["user"] ?? { team_user_id: "none" }) as {
    readonly team_user_id: string;
  };
  expect(team.members.map((member) => member.id)).not.toContain(id);
  expect(id).toMatch(/^.{1,64}$/u);
  return id;
}

/** A change of a member. */
export interface Change extends MemberChoice {
  readonly status: Status | undefined;
  readonly role: Role | undefined;
}

/** spec/enterprise.md 5.4. */
export const update = commandOf<Change>("update", ({ status, role, ...choice }, model, _, side) => {
  const ref = refOf(model, side, choice);
  const change = {
    ...(status ? { status: enumName("USER_STATUS_", status) } : {}),
    ...(role ? { role: enumName("TEAM_MEMBER_ROLE_", role) } : {}),
  };
  return {
    body: { ...refBody(ref), ...change },
    rule: (team, power) => rules.update(team, power, ref, { status, role }),
  };
});

/** The profile to delegate, and its target. */
export interface HandOver {
  readonly who: Pick;
  readonly to: Pick;
  readonly role: "MEMBER" | "FREE_GUEST" | "DEACTIVATED" | undefined;
}

/** spec/enterprise.md 5.5. */
export const delegate = commandOf<HandOver>("delegate", ({ who, to, role }, model, _, side) => {
  const [id, target] = [idOf(model, side, who), idOf(model, side, to)];
  return {
    body: { team_user_id: id, target_team_user_id: target, role: enumName("MIGRATED_PROFILE_ROLE_", role) },
    rule: (team, power, _answer, now) => rules.delegate(team, power, { id, to: target, role }, now),
  };
});

/** spec/enterprise.md 5.6. */
export const reclaim = commandOf<{ readonly who: Pick }>("reclaim", ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team) => rules.reclaim(team, id) };
});

/** spec/enterprise.md 5.7. */
export const rename = commandOf<{ readonly who: Pick; readonly name: string }>(
  "rename",
  ({ who, name }, model, _, side) => {
    const id = idOf(model, side, who);
    return { body: { team_user_id: id, display_name: name }, rule: (team) => rules.rename(team, id, name) };
  },
);

/** spec/enterprise.md 5.8. */
export const remove = commandOf<{ readonly who: Pick }>("remove", ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team, power) => rules.remove(team, power, id) };
});

/** Gives an active member a key, a session, a token and a running task, which the rules must end. */
export const enrolment = (side: Side, who: Pick): Command => ({
  check: () => true,
  toString: () => `enrol ${JSON.stringify({ side, ...who })}`,
  run: async (model, real) => {
    const team = model[side];
    const member = resolve(model, side, who);
    if (
      member?.status !== "ACTIVE" ||
      member.delegation ||
      member.role === "OWNER" ||
      !team.members.includes(member)
    )
      return;
    const { credentials, work } = await enrol(real, side, member);
    team.credentials.push(...credentials);
    team.work.push(work);
  },
});
