import fc from "fast-check";
import { sample } from "../../support/depth.ts";
import * as commands from "./commands.ts";
import { currentMembers, type Role, type Status } from "./members.ts";
import { type Pool, pick } from "./picks.ts";
import { type Model, type Real, type Side, sides } from "./rig.ts";
import { type Command, type Frame, randomly } from "./step.ts";

/** Sometimes a role that cannot be granted, or none. */
const anyRole = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<Role[]>("SUPER_ADMIN", "SUPER_ADMIN", "ADMIN", "MEMBER", "GUEST"),
  },
  fc.constantFrom<(Role | undefined)[]>("OWNER", undefined),
);
const someName = fc.constantFrom("Ivo (left)", "Lea Roth", "名".repeat(255), "x");
const names = fc.oneof(
  fc.constant({}),
  someName.map((user_name) => ({ user_name })),
  fc.constant({ first_name: "Lea", last_name: "Roth", user_name: "Not shown" }),
  fc.constant({ last_name: "Roth" }),
);
const by = fc.constantFrom<commands.By[]>("id", "id", "id", "email", "email", "email", "both", "neither");
const migrated = ["MEMBER", "FREE_GUEST", "DEACTIVATED"] as const;

const list = randomly(
  commands.list,
  fc.record(
    {
      status: fc.constantFrom<Status[]>("ACTIVE", "INACTIVE", "REMOVED"),
      delegation: fc.constantFrom("DELEGATED", "HAS_DELEGATES", "NONE"),
      limit: fc.integer({ min: 1, max: 4 }),
      offset: fc.nat(4),
    },
    { requiredKeys: [] },
  ),
);
const detail = randomly(commands.detail, fc.record({ who: pick("anyone", "delegated", "holder"), by }));
const create = randomly(
  commands.create,
  fc.record({ address: fc.nat(5), isUpperCase: fc.boolean(), role: anyRole, names }),
);
const update = (...mostly: readonly Pool[]) =>
  randomly(
    commands.update,
    fc.record({
      who: pick(...mostly),
      by,
      status: fc.constantFrom<(Status | undefined)[]>(
        "ACTIVE",
        "INACTIVE",
        "INACTIVE",
        "INACTIVE",
        "REMOVED",
        undefined,
        undefined,
      ),
      role: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: anyRole }),
    }),
  );
const deactivate = randomly(
  commands.update,
  fc.record({
    who: pick("active", "active", "holder"),
    by,
    status: fc.constant<Status>("INACTIVE"),
    role: fc.constant(undefined),
  }),
);
const delegate = randomly(
  commands.delegate,
  fc.record({
    who: pick("inactive", "inactive", "inactive", "anyone"),
    to: pick("active", "active", "holder", "delegated", "owner"),
    role: fc.constantFrom(...migrated, ...migrated, undefined),
  }),
);
const reclaim = randomly(commands.reclaim, fc.record({ who: pick("delegated", "delegated", "anyone") }));
const rename = randomly(
  commands.rename,
  fc.record({
    who: pick("anyone", "delegated"),
    name: fc.oneof({ weight: 5, arbitrary: someName }, fc.constantFrom("", "x".repeat(256))),
  }),
);
const remove = randomly(commands.remove, fc.record({ who: pick("anyone", "holder", "delegated") }));
const enrol = fc
  .tuple(fc.constantFrom(...sides), pick("active", "super"))
  .map(([side, who]): Command => commands.enrolment(side, who));

/** Any sequence; commands that others depend on are more frequent. */
export const sequences = fc.commands(
  [
    ...[create, create, enrol, enrol, list, detail, deactivate, deactivate, deactivate],
    ...[
      update("active", "super", "anyone"),
      update("holder", "holder", "active"),
      update("inactive", "delegated"),
    ],
    ...[delegate, delegate, delegate, reclaim, reclaim, rename, remove, remove],
  ],
  { maxCommands: sample(80, 40), size: "max" },
);

const frame = (side: Side): Frame => ({ side, wire: "v2", caller: "management", n: 0, seconds: 1 });
const first = (pool: Pool) => ({ pool, n: 0 }) as const;

/** The start of every run: a super admin, a member of both teams, and in the north a delegated profile. */
export const openingCommands: readonly Command[] = [
  ...(["SUPER_ADMIN", "MEMBER", "ADMIN", "MEMBER"] as const).map((role, address) =>
    commands.create(frame("north"), { address, isUpperCase: false, role, names: {} }),
  ),
  ...(["MEMBER", "SUPER_ADMIN"] as const).map((role, i) =>
    commands.create(frame("south"), { address: i + 1, isUpperCase: false, role, names: {} }),
  ),
  ...[0, 1, 2, 3].map((n) => commands.enrolment("north", { pool: "active", n })),
  commands.enrolment("south", first("active")),
  commands.update(frame("north"), {
    who: { pool: "active", n: 3 },
    by: "id",
    status: "INACTIVE",
    role: undefined,
  }),
  commands.delegate(frame("north"), { who: first("inactive"), to: { pool: "active", n: 1 }, role: "MEMBER" }),
  // Random sequences may omit these: a chain, and a super admin who creates another.
  commands.update(frame("north"), {
    who: { pool: "active", n: 2 },
    by: "id",
    status: "INACTIVE",
    role: undefined,
  }),
  commands.delegate(frame("north"), { who: first("inactive"), to: first("delegated"), role: "MEMBER" }),
  commands.create(
    { ...frame("north"), caller: "super" },
    { address: 5, isUpperCase: false, role: "SUPER_ADMIN", names: {} },
  ),
];

/** Reactivates every member that can be: ended credentials must stay ended (spec/decisions.md 6). */
export async function reactivateAll(model: Model, real: Real): Promise<void> {
  for (const side of sides) {
    const current = () => currentMembers(model[side]);
    while (current().some(({ delegation }) => delegation))
      await commands.reclaim(frame(side), { who: first("delegated") }).run(model, real);
    while (current().some(({ status }) => status === "INACTIVE"))
      await commands
        .update(frame(side), { who: first("inactive"), by: "id", status: "ACTIVE", role: undefined })
        .run(model, real);
  }
}
