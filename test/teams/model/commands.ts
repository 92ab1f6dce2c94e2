import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { Answer } from "./call.ts";
import type { Role, Status, Team } from "./members.ts";
import { idOf, type Pick, resolve } from "./picks.ts";
import { enrol, type Model, type Side } from "./rig.ts";
import * as rules from "./rules.ts";
import { type Command, commandOf } from "./step.ts";

const word = (prefix: string, rest: string | undefined): string => `${prefix}${rest ?? "UNSPECIFIED"}`;

/** By id, by address, by both, of which the id counts, or by neither. */
export type By = "id" | "email" | "both" | "neither";

interface Ref {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
}

/** Whom a call names. */
export interface Naming {
  readonly who: Pick;
  readonly by: By;
}

function refOf(model: Model, side: Side, { who, by }: Naming): Ref {
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

/** What a list is asked for. */
export interface Listing {
  readonly status?: Status;
  readonly delegation?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** contract/enterprise.md 5.1. */
export const list = commandOf<Listing>("list", (filter) => {
  const { status, delegation, ...page } = filter;
  const words = {
    ...(status ? { status_filter: word("USER_STATUS_", status) } : {}),
    ...(delegation ? { delegation_state: word("DELEGATION_STATE_", delegation) } : {}),
  };
  return { body: { ...words, ...page }, rule: (team) => rules.list(team, filter) };
});

/** contract/enterprise.md 5.2. */
export const detail = commandOf<Naming>("detail", (naming, model, _, side) => {
  const ref = refOf(model, side, naming);
  return { body: refBody(ref), rule: (team) => rules.detail(team, ref) };
});

/** Whom to add: one of the run's persons, in lower or upper case. */
export interface Newcomer {
  readonly address: number;
  readonly loud: boolean;
  readonly role: Role | undefined;
  readonly names: Readonly<Record<string, string>>;
}

/** contract/enterprise.md 5.3. */
export const create = commandOf<Newcomer>("create", ({ address, loud, role, names }, _model, { addresses }) => {
  const plain = addresses[address] ?? "";
  const email = loud ? plain.toUpperCase() : plain;
  const both = [names["first_name"], names["last_name"]].filter((part) => part !== undefined).join(" ");
  const name = both === "" ? names["user_name"] : both;
  return {
    body: { email, role: word("TEAM_MEMBER_ROLE_", role), ...names },
    rule: (team, power, { body }, at) => rules.create(team, power, { email, role, name }, { id: newId(team, body), at }),
  };
});

/** The id that an answer gives to a new member, who must be a new one. */
function newId(team: Team, body: Answer["body"]): string {
  // A refusal has none; what else is there is compared to the model's.
  const { team_user_id: id } = (body["user"] ?? { team_user_id: "none" }) as { readonly team_user_id: string };
  expect(team.members.map((member) => member.id)).not.toContain(id);
  expect(id).toMatch(/^.{1,64}$/u);
  return id;
}

/** What to change of whom. */
export interface Change extends Naming {
  readonly status: Status | undefined;
  readonly role: Role | undefined;
}

/** contract/enterprise.md 5.4. */
export const update = commandOf<Change>("update", ({ status, role, ...naming }, model, _, side) => {
  const ref = refOf(model, side, naming);
  const change = {
    ...(status ? { status: word("USER_STATUS_", status) } : {}),
    ...(role ? { role: word("TEAM_MEMBER_ROLE_", role) } : {}),
  };
  return { body: { ...refBody(ref), ...change }, rule: (team, power) => rules.update(team, power, ref, { status, role }) };
});

/** Whom to hand to whom. */
export interface HandOver {
  readonly who: Pick;
  readonly to: Pick;
  readonly role: "MEMBER" | "FREE_GUEST" | "DEACTIVATED" | undefined;
}

/** contract/enterprise.md 5.5. */
export const delegate = commandOf<HandOver>("delegate", ({ who, to, role }, model, _, side) => {
  const [id, target] = [idOf(model, side, who), idOf(model, side, to)];
  return {
    body: { team_user_id: id, target_team_user_id: target, role: word("MIGRATED_PROFILE_ROLE_", role) },
    rule: (team, power, _answer, now) => rules.delegate(team, power, { id, to: target, role }, now),
  };
});

/** contract/enterprise.md 5.6. */
export const reclaim = commandOf<{ readonly who: Pick }>("reclaim", ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team) => rules.reclaim(team, id) };
});

/** contract/enterprise.md 5.7. */
export const rename = commandOf<{ readonly who: Pick; readonly name: string }>("rename", ({ who, name }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id, display_name: name }, rule: (team) => rules.rename(team, id, name) };
});

/** contract/enterprise.md 5.8. */
export const remove = commandOf<{ readonly who: Pick }>("remove", ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team, power) => rules.remove(team, power, id) };
});

/** An active member gets a key, a session and a token, and a task that runs: what the rules are to end. */
export const enrolment = (side: Side, who: Pick): Command => ({
  check: () => true,
  toString: () => `enrol ${JSON.stringify({ side, ...who })}`,
  run: async (model, real) => {
    const team = model[side];
    const member = resolve(model, side, who);
    if (member?.status !== "ACTIVE" || member.delegation || member.role === "OWNER" || !team.members.includes(member)) return;
    const { credentials, work } = await enrol(real, side, member);
    team.credentials.push(...credentials);
    team.work.push(work);
  },
});
