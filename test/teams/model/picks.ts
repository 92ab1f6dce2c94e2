import fc from "fast-check";
import { type Credential, currentMembers, heldBy, type Member, singleUse, type Team } from "./members.ts";
import type { Model, Real, Side } from "./rig.ts";
import type { Power, Refusal } from "./rules.ts";

/** The sets from which a member is picked: those a rule requires, and those it refuses. */
const pools = [
  "anyone",
  "active",
  "inactive",
  "delegated",
  "holder",
  "super",
  "owner",
  "removed",
  "foreign",
  "unknown",
] as const;
export type Pool = (typeof pools)[number];

/** A member, picked before the members are known. */
export interface Pick {
  readonly pool: Pool;
  readonly n: number;
}

/** Picks most often from the named pools. */
export const pick = (...mostly: readonly Pool[]): fc.Arbitrary<Pick> =>
  fc.record({
    pool: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...mostly) }, fc.constantFrom(...pools)),
    n: fc.nat(23),
  });

const membersOfPool = (model: Model, side: Side, pool: Pool): readonly Member[] => {
  const team = model[side];
  const all = currentMembers(team);
  const active = all.filter(
    ({ status, delegation, role }) => status === "ACTIVE" && !delegation && role !== "OWNER",
  );
  switch (pool) {
    case "anyone":
      return all.filter(({ role }) => role !== "OWNER");
    case "active":
      return active;
    case "inactive":
      return all.filter(({ status, delegation }) => status === "INACTIVE" && !delegation);
    case "delegated":
      return all.filter(({ delegation }) => delegation !== undefined);
    case "holder":
      return all.filter((member) => heldBy(team, member).length > 0);
    case "super":
      return all.filter(({ role }) => role === "SUPER_ADMIN");
    case "owner":
      return all.filter(({ role }) => role === "OWNER");
    case "removed":
      return team.members.filter(({ status }) => status === "REMOVED");
    case "foreign":
      return model[side === "north" ? "south" : "north"].members;
    case "unknown":
      return [];
  }
};

/** The picked member: any member if the pool is empty; undefined for the pool of unknown ones. */
export function resolve(model: Model, side: Side, { pool, n }: Pick): Member | undefined {
  if (pool === "unknown") return undefined;
  const [some, any] = [membersOfPool(model, side, pool), membersOfPool(model, side, "anyone")];
  const candidates = some.length > 0 ? some : any;
  return candidates[n % Math.max(1, candidates.length)];
}

/** The id of the picked member, or an unknown id. */
export const idOf = (model: Model, side: Side, picked: Pick): string =>
  resolve(model, side, picked)?.id ?? `nobody-${picked.n}`;

/** The kinds of callers: permanent keys, a super admin's, a member's, and invalid ones. */
export type CallerKind = "management" | "owner" | "super" | "anyone" | "ediscovery" | "ended";

/** Mostly callers with permission. */
export const callers: fc.Arbitrary<CallerKind> = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom<CallerKind[]>("management", "owner") },
  { weight: 5, arbitrary: fc.constant<CallerKind>("super") },
  { weight: 2, arbitrary: fc.constantFrom<CallerKind[]>("anyone", "ediscovery", "ended") },
);

/** A caller's credential, and its permission (spec/decisions.md 2, spec/enterprise.md 1). */
export interface PresentedCredential {
  readonly headers: Readonly<Record<string, string>>;
  readonly may: Power | Exclude<Refusal, "invalid_argument">;
  /** A session is accepted only on the Connect wire. */
  readonly connectOnly: boolean;
}

/** The presented credential. */
export function presentCredential(
  model: Model,
  real: Real,
  { side, caller, n }: { readonly side: Side; readonly caller: CallerKind; readonly n: number },
): PresentedCredential {
  const { owner, management, ediscovery } = real.permanentCallers[side];
  const always = { connectOnly: false, headers: { "x-api-key": management.key }, may: "full" } as const;
  if (caller === "owner") return { ...always, headers: owner.headers };
  if (caller === "ediscovery")
    return { ...always, headers: { "x-api-key": ediscovery.key }, may: "permission_denied" };
  if (caller === "management") return always;
  const team = model[side];
  const candidates = team.credentials
    .filter(({ kind }) => !singleUse.has(kind))
    .filter((one) => isOfKind(team, caller, one));
  const credential = candidates[n % Math.max(1, candidates.length)];
  if (credential === undefined) return always;
  return {
    headers: credential.headers,
    may: powerOf(team, credential),
    connectOnly: credential.kind === "session",
  };
}

const holderOf = (team: Team, { holder }: Credential): Member | undefined =>
  currentMembers(team).find(({ id }) => id === holder);

function isOfKind(team: Team, caller: CallerKind, credential: Credential): boolean {
  if (caller === "ended") return credential.ended;
  return (
    caller === "anyone" || (credential.kind !== "token" && holderOf(team, credential)?.role === "SUPER_ADMIN")
  );
}

function powerOf(team: Team, credential: Credential): PresentedCredential["may"] {
  const holder = holderOf(team, credential);
  if (credential.ended || holder?.status !== "ACTIVE") return "unauthenticated";
  return credential.kind !== "token" && holder.role === "SUPER_ADMIN" ? "super" : "permission_denied";
}
