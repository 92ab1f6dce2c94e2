import { expect } from "vitest";
import { TeamUserManagementApiV2Service } from "../../../src/gen/proto/team/v2/team_user_service_pb.ts";
import { call, tidy } from "./call.ts";
import { currentMembers, heldBy, isActive, type Member, memberOf, singleUse, type Team } from "./members.ts";
import { type Model, type Real, type Side, sides } from "./rig.ts";
import { detail, list } from "./rules.ts";
import { accountsIn, auditIn, membersIn, workIn } from "./tables.ts";

/**
 * After every step: checks all members of both teams over the API and in the tables, the changed ones in
 * detail, and some credentials.
 */
export async function checkStep(
  model: Model,
  real: Real,
  step: { readonly side: Side; readonly touched: string | undefined; readonly n: number },
): Promise<void> {
  await checkRows(model, real);
  await checkAudit(model, real);
  const team = model[step.side];
  const member = team.members.find(({ id }) => id === step.touched);
  await checkLists(team, real, step.side);
  for (const one of around(team, member)) await checkDetail(team, real, step.side, one);
  for (const side of sides)
    await checkCredentials(model[side], ({ holder }, i) => holder === step.touched || i % 7 === step.n % 7);
}

/** After the last step: checks everything. */
export async function checkAll(model: Model, real: Real): Promise<void> {
  for (const side of sides) {
    await checkLists(model[side], real, side);
    for (const member of model[side].members) await checkDetail(model[side], real, side, member);
    await checkCredentials(model[side], () => true);
  }
}

/** A member, its holder, and the profiles it holds. */
const around = (team: Team, member: Member | undefined): readonly Member[] => {
  if (member === undefined) return [];
  const holder = memberOf(team, { id: member.delegation?.to ?? "" });
  return [member, ...(holder ? [holder] : []), ...heldBy(team, member)];
};

async function checkLists(team: Team, { service, permanentCallers }: Real, side: Side): Promise<void> {
  const at = {
    url: service.url,
    wire: "v2",
    headers: { "x-api-key": permanentCallers[side].management.key },
  } as const;
  for (const status of [undefined, "REMOVED"] as const) {
    const answer = await call(at, "list", status ? { status_filter: `USER_STATUS_${status}` } : {});
    expect({ body: answer.body }).toEqual(list(team, status ? { status } : {}));
  }
}

async function checkDetail(
  team: Team,
  { service, permanentCallers }: Real,
  side: Side,
  { id }: Member,
): Promise<void> {
  const at = {
    url: service.url,
    wire: "connect",
    headers: { "x-api-key": permanentCallers[side].management.key },
  } as const;
  const { refusal, body } = await call(at, "detail", { team_user_id: id });
  expect(refusal ? { refusals: [refusal] } : { body: tidy(body) }).toEqual(tidy(detail(team, { id })));
}

/**
 * An ended credential grants no access after any later command; any other one does (spec/decisions.md 5, 6).
 */
async function checkCredentials(
  team: Team,
  which: (credential: Team["credentials"][number], i: number) => boolean,
): Promise<void> {
  for (const credential of team.credentials.filter(which)) {
    const mustWork = isActive(team, credential);
    if (singleUse.has(credential.kind) && !credential.ended) continue;
    expect(await credential.opens(), `${credential.kind} of ${credential.holder}`).toBe(mustWork);
  }
}

/** The rows of both teams match the model, and satisfy the invariants. */
async function checkRows(model: Model, real: Real): Promise<void> {
  for (const side of sides) {
    const { spaceId } = real.permanentCallers[side].owner;
    const rows = await membersIn(real.tables, spaceId);
    expect(rows).toEqual(model[side].members.map(rowOf).toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    checkInvariants(rows);
    const work = model[side].work.map(({ id, status }) => `${id} ${status}`);
    expect(await workIn(real.tables, spaceId), "tasks of members without access are stopped").toEqual(
      work.toSorted(),
    );
  }
  const known = sides
    .flatMap((side) => currentMembers(model[side]))
    .flatMap(({ email, delegation }) => [delegation?.originalEmail ?? email]);
  const expected = real.addresses.filter((address, i) => i === 0 || known.includes(address));
  expect(await accountsIn(real.tables, real.addresses), "an account without a space is erased").toEqual(
    expected,
  );
}

type Row = Awaited<ReturnType<typeof membersIn>>[number];

const rowOf = ({ id, email, name, role, status, delegation }: Member): Row => ({
  ...{ id, email, name: name ?? null, role: role.toLowerCase(), status: status.toLowerCase() },
  delegatedTo: delegation?.to ?? null,
  originalEmail: delegation?.originalEmail ?? null,
  delegatedAt: delegation?.at ?? null,
});

/** Invariants of the rows alone, in case the model itself is wrong. */
function checkInvariants(rows: readonly Row[]): void {
  const there = rows.filter(({ status }) => status !== "removed");
  const delegated = rows.filter(({ delegatedTo }) => delegatedTo !== null);
  expect(
    there.filter(({ role }) => role === "owner"),
    "one owner",
  ).toHaveLength(1);
  expect(new Set(there.map(({ email }) => email)).size, "an address is one member's").toBe(there.length);
  for (const { id, status, email, originalEmail, delegatedTo, delegatedAt } of delegated) {
    const holder = there.find((row) => row.id === delegatedTo);
    expect({ status: holder?.status, delegatedTo: holder?.delegatedTo }, "no chains").toEqual({
      status: "active",
      delegatedTo: null,
    });
    expect([status === "removed", originalEmail === null, delegatedAt === null]).toEqual([
      false,
      false,
      false,
    ]);
    expect(email).toContain(`delegate-${id.toLowerCase()}@`);
  }
  for (const row of rows.filter(({ delegatedTo }) => delegatedTo === null))
    expect([row.originalEmail, row.delegatedAt]).toEqual([null, null]);
}

/** Every successful change has a row in its own team's log, and no further rows exist. */
async function checkAudit(model: Model, { tables, permanentCallers }: Real): Promise<void> {
  for (const side of sides) {
    const rows = await auditIn(
      tables,
      permanentCallers[side].owner.spaceId,
      TeamUserManagementApiV2Service.typeName,
    );
    expect(new Set(rows)).toEqual(
      new Set(
        model[side].changes.map(({ requestId, method, subject }) => `${requestId} ${method} ${subject}`),
      ),
    );
    expect(rows).toHaveLength(model[side].changes.length);
  }
}
