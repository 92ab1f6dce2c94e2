import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect } from "vitest";
import type { Answer } from "./call.ts";
import type { Role, Status, Team } from "./members.ts";
import { idOf, type Pick, type Pool, pick, resolve } from "./picks.ts";
import { enrol, type Model, type Side, sides } from "./rig.ts";
import * as rules from "./rules.ts";
import { type Command, command } from "./step.ts";

const enumWord = (prefix: string, word: string | undefined): JsonObject[string] =>
  word === undefined ? `${prefix}UNSPECIFIED` : `${prefix}${word}`;
const grantable: readonly Role[] = ["SUPER_ADMIN", "ADMIN", "MEMBER", "GUEST"];
/** Now and then one that nobody can have, or none. */
const anyRole = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...grantable) },
  fc.constantFrom<(Role | undefined)[]>("OWNER", undefined),
);
const someName = fc.constantFrom("Ivo (left)", "Lea Roth", "名".repeat(255), "x");

/** By id, by address, by both, of which the id counts, or by neither. */
type By = "id" | "email" | "both" | "neither";
const bys: fc.Arbitrary<By> = fc.constantFrom<By[]>("id", "id", "id", "email", "email", "email", "both", "neither");

interface Ref {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
}

/** Whom a call names; an address that a member had before is nobody's. */
function refOf(model: Model, side: Side, picked: Pick, by: By): Ref {
  const member = resolve(model, side, picked);
  const email = member?.email ?? "nobody@corp.test";
  return {
    ...(by === "id" || by === "both" ? { id: member?.id ?? "nobody" } : {}),
    ...(by === "email" ? { email } : {}),
    ...(by === "both" ? { email: "other@corp.test" } : {}),
  };
}

const refBody = ({ id, email }: Ref): JsonObject => ({
  ...(id === undefined ? {} : { team_user_id: id }),
  ...(email === undefined ? {} : { email }),
});

const list = command(
  "list",
  fc.record(
    {
      status: fc.constantFrom<Status[]>("ACTIVE", "INACTIVE", "REMOVED"),
      delegation: fc.constantFrom("DELEGATED", "HAS_DELEGATES", "NONE"),
      limit: fc.integer({ min: 1, max: 4 }),
      offset: fc.nat(4),
    },
    { requiredKeys: [] },
  ),
  (filter) => {
    const { status, delegation, ...page } = filter;
    const words = {
      ...(status ? { status_filter: `USER_STATUS_${status}` } : {}),
      ...(delegation ? { delegation_state: `DELEGATION_STATE_${delegation}` } : {}),
    };
    return { body: { ...words, ...page }, rule: (team) => rules.list(team, filter) };
  },
);

const detail = command("detail", fc.record({ who: pick("anyone", "delegated", "holder"), by: bys }), ({ who, by }, model, _, side) => {
  const ref = refOf(model, side, who, by);
  return { body: refBody(ref), rule: (team) => rules.detail(team, ref) };
});

const creation = command(
  "create",
  fc.record({ address: fc.nat(5), loud: fc.boolean(), role: anyRole, name: fc.option(someName, { nil: undefined }), first: fc.boolean() }),
  ({ address, loud, role, name, first }, _model, { addresses }) => {
    const plain = addresses[address] ?? "";
    const email = loud ? plain.toUpperCase() : plain;
    const names =
      name === undefined
        ? {}
        : first && name.length < 100
          ? { first_name: "First", last_name: name, user_name: "Not shown" }
          : { user_name: name };
    const shown = "first_name" in names ? `First ${name}` : name;
    return {
      body: { email, role: enumWord("TEAM_MEMBER_ROLE_", role) ?? null, ...names },
      rule: (team, power, { body }, at) => rules.create(team, power, { email, role, name: shown }, { id: newId(team, body), at }),
    };
  },
);

/** The id that an answer gives to a new member, who must be a new one. */
function newId(team: Team, body: Answer["body"]): string {
  const { team_user_id: id } = (body["user"] ?? { team_user_id: "none" }) as { readonly team_user_id: string };
  expect(team.members.map((member) => member.id)).not.toContain(id);
  expect(id).toMatch(/^.{1,64}$/u);
  return id;
}

const update = (...mostly: readonly Pool[]) =>
  command(
    "update",
    fc.record({
      who: pick(...mostly),
      by: bys,
      status: fc.constantFrom<(Status | undefined)[]>("ACTIVE", "INACTIVE", "INACTIVE", "INACTIVE", "REMOVED", undefined, undefined),
      role: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: anyRole }),
    }),
    ({ who, by, status, role }, model, _, side) => {
      const ref = refOf(model, side, who, by);
      const change = {
        ...(status ? { status: enumWord("USER_STATUS_", status) } : {}),
        ...(role ? { role: enumWord("TEAM_MEMBER_ROLE_", role) } : {}),
      };
      // biome-ignore lint/suspicious/noExplicitAny: spread of words that are there
      return { body: { ...refBody(ref), ...(change as any) }, rule: (team, power) => rules.update(team, power, ref, { status, role }) };
    },
  );

const delegation = command(
  "delegate",
  fc.record({
    who: pick("inactive", "inactive", "inactive", "anyone"),
    to: pick("active", "active", "holder", "holder", "owner"),
    role: fc.constantFrom<("MEMBER" | "FREE_GUEST" | "DEACTIVATED" | undefined)[]>(
      ...(["MEMBER", "FREE_GUEST", "DEACTIVATED"] as const),
      ...(["MEMBER", "FREE_GUEST", "DEACTIVATED"] as const),
      undefined,
    ),
  }),
  ({ who, to, role }, model, _, side) => {
    const [id, target] = [idOf(model, side, who), idOf(model, side, to)];
    return {
      body: { team_user_id: id, target_team_user_id: target, role: enumWord("MIGRATED_PROFILE_ROLE_", role) ?? null },
      rule: (team, power, _answer, now) => rules.delegate(team, power, { id, to: target, role }, now),
    };
  },
);

const reclaim = command("reclaim", fc.record({ who: pick("delegated", "anyone") }), ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team) => rules.reclaim(team, id) };
});

const rename = command(
  "rename",
  fc.record({ who: pick("anyone", "delegated"), name: fc.oneof({ weight: 5, arbitrary: someName }, fc.constantFrom("", "x".repeat(256))) }),
  ({ who, name }, model, _, side) => {
    const id = idOf(model, side, who);
    return { body: { team_user_id: id, display_name: name }, rule: (team) => rules.rename(team, id, name) };
  },
);

const removal = command("remove", fc.record({ who: pick("anyone", "holder", "delegated") }), ({ who }, model, _, side) => {
  const id = idOf(model, side, who);
  return { body: { team_user_id: id }, rule: (team, power) => rules.remove(team, power, id) };
});

/** An active member gets a key, a session and a token: what the rules are to end. */
const enrolment: fc.Arbitrary<Command> = fc
  .record({ side: fc.constantFrom(...sides), who: pick("active", "super") })
  .map(({ side, who }) => ({
    check: () => true,
    toString: () => `enrol ${JSON.stringify({ side, ...who })}`,
    run: async (model, real) => {
      const member = resolve(model, side, who);
      const may = member?.status === "ACTIVE" && !member.delegation && member.role !== "OWNER" && model[side].members.includes(member);
      if (!may) return;
      const { credentials, work } = await enrol(real, side, member);
      model[side].credentials.push(...credentials);
      model[side].work.push(work);
    },
  }));

/** All commands, those twice that the rest lives on. */
export const commands: readonly fc.Arbitrary<Command>[] = [
  ...[creation, creation, creation, enrolment, enrolment, list, detail],
  ...[update("active", "super", "anyone"), update("holder"), update("anyone", "inactive", "delegated")],
  ...[delegation, delegation, delegation, reclaim, rename, removal],
];
