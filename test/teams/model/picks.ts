import fc from "fast-check";
import { type Credential, heldBy, living, type Member, spent, type Team } from "./members.ts";
import type { Model, Real, Side } from "./rig.ts";
import type { Power, Refusal } from "./rules.ts";

/** From whom somebody is picked: what a rule asks for, and what it refuses. */
const pools = ["anyone", "active", "inactive", "delegated", "holder", "super", "owner", "removed", "foreign", "unknown"] as const;
export type Pool = (typeof pools)[number];

/** Somebody, told before it is known who there is. */
export interface Pick {
  readonly pool: Pool;
  readonly n: number;
}

/** Picks most often from the pools that are named. */
export const pick = (...mostly: readonly Pool[]): fc.Arbitrary<Pick> =>
  fc.record({ pool: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...mostly) }, fc.constantFrom(...pools)), n: fc.nat(23) });

const everyone = (model: Model, side: Side, pool: Pool): readonly Member[] => {
  const team = model[side];
  const all = living(team);
  const active = all.filter(({ status, delegation, role }) => status === "ACTIVE" && !delegation && role !== "OWNER");
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

/** Who that is by now: where there is nobody of the kind, anyone; undefined for somebody unknown. */
export function resolve(model: Model, side: Side, { pool, n }: Pick): Member | undefined {
  if (pool === "unknown") return undefined;
  const [some, any] = [everyone(model, side, pool), everyone(model, side, "anyone")];
  const there = some.length > 0 ? some : any;
  return there[n % Math.max(1, there.length)];
}

/** The id of whoever it is, or one that nobody has. */
export const idOf = (model: Model, side: Side, picked: Pick): string => resolve(model, side, picked)?.id ?? `nobody-${picked.n}`;

/** Who calls: the keys that have power whatever happens, a super admin's, and anybody's. */
export type CallerKind = "management" | "owner" | "super" | "anyone" | "ediscovery" | "ended";

/** Mostly those who may. */
export const callers: fc.Arbitrary<CallerKind> = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom<CallerKind[]>("management", "owner") },
  { weight: 5, arbitrary: fc.constant<CallerKind>("super") },
  { weight: 2, arbitrary: fc.constantFrom<CallerKind[]>("anyone", "ediscovery", "ended") },
);

/** A caller's credential, and what it may (contract/decisions.md 2, contract/enterprise.md 1). */
export interface Showing {
  readonly headers: Readonly<Record<string, string>>;
  readonly may: Power | Exclude<Refusal, "invalid_argument">;
  /** A session counts on the Connect wire alone. */
  readonly connectOnly: boolean;
}

/** The credential that is shown. */
export function showing(
  model: Model,
  real: Real,
  { side, caller, n }: { readonly side: Side; readonly caller: CallerKind; readonly n: number },
): Showing {
  const { owner, management, ediscovery } = real.rulers[side];
  const always = { connectOnly: false, headers: { "x-api-key": management.key }, may: "full" } as const;
  if (caller === "owner") return { ...always, headers: owner.headers };
  if (caller === "ediscovery") return { ...always, headers: { "x-api-key": ediscovery.key }, may: "permission_denied" };
  if (caller === "management") return always;
  const team = model[side];
  const shown = team.credentials.filter(({ kind }) => !spent.has(kind)).filter((one) => suits(team, caller, one));
  const credential = shown[n % Math.max(1, shown.length)];
  if (credential === undefined) return always;
  return { headers: credential.headers, may: powerOf(team, credential), connectOnly: credential.kind === "session" };
}

const holderOf = (team: Team, { holder }: Credential): Member | undefined => living(team).find(({ id }) => id === holder);

function suits(team: Team, caller: CallerKind, credential: Credential): boolean {
  if (caller === "ended") return credential.ended;
  return caller === "anyone" || (credential.kind !== "token" && holderOf(team, credential)?.role === "SUPER_ADMIN");
}

function powerOf(team: Team, credential: Credential): Showing["may"] {
  const holder = holderOf(team, credential);
  if (credential.ended || holder?.status !== "ACTIVE") return "unauthenticated";
  return credential.kind !== "token" && holder.role === "SUPER_ADMIN" ? "super" : "permission_denied";
}
