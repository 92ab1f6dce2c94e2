import { affected, detailedUser, listed, type Shown } from "./expected-answers.ts";
import {
  type Credential,
  currentMembers,
  delegationOf,
  heldBy,
  type Member,
  memberOf,
  type Role,
  type Status,
  type Team,
} from "./members.ts";

/** Codes of refusals; `unauthenticated` is v2's permission_denied with 401 (spec/decisions.md 9). */
export type Refusal =
  | "invalid_argument"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "permission_denied"
  | "unauthenticated";

/** The required answer of a call: one of these refusals, or this body without ok and request_id. */
export type Expected =
  | { readonly refusals: readonly Refusal[] }
  | { readonly body: Shown; readonly subject?: string };

/**
 * The permission of a caller: everything, or everything except granting and revoking SUPER_ADMIN
 * (spec/decisions.md 2).
 */
export type Power = "full" | "super";

type Ref = { readonly id?: string | undefined; readonly email?: string | undefined };
type Rule = readonly [broken: boolean | undefined, refusal: Refusal];

export const refusedWith = (...refusals: readonly Refusal[]): Expected => ({ refusals });

/** If several rules are broken, the specification leaves open which one is reported. */
function broken(...rules: readonly Rule[]): Expected | undefined {
  const refusals = rules.flatMap(([is, refusal]) => (is ? [refusal] : []));
  return refusals.length > 0 ? { refusals } : undefined;
}

const isOwner = (member: Member | undefined): boolean => member?.role === "OWNER";

/**
 * A super admin may neither grant nor revoke that role (spec/decisions.md 2); the end of a membership revokes
 * it, deactivation does not.
 */
const exceedsPower = (power: Power, before: Role | undefined, after: Role | undefined): boolean =>
  power === "super" && after !== before && [before, after].includes("SUPER_ADMIN");

/** spec/enterprise.md 5.1. */
export function list(
  team: Team,
  filter: {
    readonly status?: Status;
    readonly delegation?: string;
    readonly limit?: number;
    readonly offset?: number;
  },
): Expected {
  const { status, delegation, limit = 100, offset = 0 } = filter;
  const shown =
    status === "REMOVED"
      ? team.members.filter((member) => member.status === "REMOVED")
      : currentMembers(team);
  const matching = shown
    .filter((member) => status === undefined || member.status === status)
    .filter((member) => delegation === undefined || delegationOf(team, member) === delegation)
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  return {
    body: {
      users: matching.slice(offset, offset + limit).map(listed),
      total: matching.length,
      limit,
      offset,
    },
  };
}

/** spec/enterprise.md 5.2. */
export function detail(team: Team, ref: Ref): Expected {
  if (ref.id === undefined && ref.email === undefined) return refusedWith("invalid_argument");
  const member = memberOf(team, ref);
  return member ? { body: { user: detailedUser(team, member) } } : refusedWith("not_found");
}

/** spec/enterprise.md 5.3; the id is the returned one. */
export function create(
  team: Team,
  power: Power,
  asked: { readonly email: string; readonly role: Role | undefined; readonly name?: string | undefined },
  made: { readonly id: string; readonly at: number },
): Expected {
  const { email, role, name } = asked;
  if (role === undefined || role === "OWNER") return refusedWith("invalid_argument");
  const address = email.toLowerCase();
  const known = currentMembers(team).some((member) =>
    [member.email, member.delegation?.originalEmail].includes(address),
  );
  const refused = broken(
    [exceedsPower(power, undefined, role), "permission_denied"],
    [known, "already_exists"],
  );
  if (refused) return refused;
  const member: Member = {
    ...{ id: made.id, createdAt: made.at, email: address, name, role },
    status: "ACTIVE",
    delegation: undefined,
  };
  team.members.push(member);
  return { body: { user: detailedUser(team, member) }, subject: member.id };
}

/** spec/enterprise.md 5.4. */
export function update(
  team: Team,
  power: Power,
  ref: Ref,
  change: { readonly status?: Status | undefined; readonly role?: Role | undefined },
): Expected {
  const { status, role } = change;
  if (ref.id === undefined && ref.email === undefined) return refusedWith("invalid_argument");
  if (role === "OWNER") return refusedWith("invalid_argument");
  const member = memberOf(team, ref);
  const refused = broken(
    [(status ?? role) === undefined || (status === "REMOVED" && role !== undefined), "invalid_argument"],
    [member === undefined, "not_found"],
    [isOwner(member), "failed_precondition"],
    [role && exceedsPower(power, member?.role, role), "permission_denied"],
  );
  if (refused || !member) return refused ?? refusedWith("not_found");
  if (status === "REMOVED") return removal(team, power, member);
  const cascade = status === "INACTIVE" ? returned(team, member) : [];
  if (status === "INACTIVE") end(team, member, ofDeactivated);
  member.status = status ?? member.status;
  member.role = role ?? member.role;
  return { body: { user: detailedUser(team, member), cascade_affected: cascade }, subject: member.id };
}

/** spec/enterprise.md 5.5. */
export function delegate(
  team: Team,
  power: Power,
  asked: {
    readonly id: string;
    readonly to: string;
    readonly role: "MEMBER" | "FREE_GUEST" | "DEACTIVATED" | undefined;
  },
  now: number,
): Expected {
  if (asked.role === undefined) return refusedWith("invalid_argument");
  const source = memberOf(team, { id: asked.id });
  if (source === undefined) return refusedWith("not_found");
  const target = memberOf(team, { id: asked.to });
  const after: Role =
    asked.role === "DEACTIVATED" ? source.role : asked.role === "MEMBER" ? "MEMBER" : "GUEST";
  const refused = broken(
    [target === undefined, "not_found"],
    [
      isOwner(source) || source.status !== "INACTIVE" || source.delegation !== undefined,
      "failed_precondition",
    ],
    [
      target && (target === source || target.status !== "ACTIVE" || target.delegation !== undefined),
      "failed_precondition",
    ],
    [exceedsPower(power, source.role, after), "permission_denied"],
  );
  if (refused) return refused;
  source.delegation = { to: asked.to, at: now, originalEmail: source.email };
  source.email = `delegate-${source.id}@${team.domain}`.toLowerCase();
  source.role = after;
  source.status = asked.role === "DEACTIVATED" ? "INACTIVE" : "ACTIVE";
  end(team, source, ofAll);
  return { body: { user: detailedUser(team, source) }, subject: source.id };
}

/** spec/enterprise.md 5.6. */
export function reclaim(team: Team, id: string): Expected {
  const member = memberOf(team, { id });
  if (member === undefined) return refusedWith("not_found");
  const { delegation } = member;
  if (delegation === undefined) return refusedWith("failed_precondition");
  giveBack(member);
  return { body: { user: detailedUser(team, member), previous_delegate: delegation.to }, subject: id };
}

/** spec/enterprise.md 5.7. */
export function rename(team: Team, id: string, name: string): Expected {
  if (name === "" || [...name].length > 255) return refusedWith("invalid_argument");
  const member = memberOf(team, { id });
  if (member === undefined) return refusedWith("not_found");
  if (isOwner(member)) return refusedWith("failed_precondition");
  member.name = name;
  return { body: { user: detailedUser(team, member) }, subject: id };
}

/** spec/enterprise.md 5.8. */
export const remove = (team: Team, power: Power, id: string): Expected =>
  removal(team, power, memberOf(team, { id }));

function removal(team: Team, power: Power, member: Member | undefined): Expected {
  if (member === undefined) return refusedWith("not_found");
  const refused = broken(
    [isOwner(member), "failed_precondition"],
    [exceedsPower(power, member.role, undefined), "permission_denied"],
  );
  if (refused) return refused;
  const cascade = returned(team, member);
  end(team, member, ofAll);
  member.email = member.delegation?.originalEmail ?? member.email;
  member.delegation = undefined;
  member.status = "REMOVED";
  return { body: { user: detailedUser(team, member), cascade_affected: cascade }, subject: member.id };
}

/** All profiles that a member holds return to the pool (spec/enterprise.md 5). */
function returned(team: Team, holder: Member): readonly Shown[] {
  const held = heldBy(team, holder);
  const shown = held.map(affected);
  held.forEach(giveBack);
  return shown;
}

/** No other member can have the address, because its account is the member's. */
function giveBack(member: Member): void {
  member.email = member.delegation?.originalEmail ?? member.email;
  member.delegation = undefined;
  member.status = "INACTIVE";
}

/**
 * The credentials that each change ends: keys work again when an inactive member is active again
 * (spec/decisions.md 5, 6).
 */
const ofDeactivated: readonly Credential["kind"][] = ["session", "token", "refresh", "code"];
const ofAll: readonly Credential["kind"][] = [...ofDeactivated, "key", "link"];

/** Ends credentials permanently, and stops the member's tasks. */
function end(team: Team, { id }: Member, kinds: readonly Credential["kind"][]): void {
  for (const credential of team.credentials)
    if (credential.holder === id && kinds.includes(credential.kind)) credential.ended = true;
  for (const work of team.work) if (work.holder === id) work.status = "stopped";
}
