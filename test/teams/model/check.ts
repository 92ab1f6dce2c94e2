import { expect } from "vitest";
import { TeamUserManagementApiV2Service } from "../../../src/gen/proto/team/v2/team_user_service_pb.ts";
import { call, tidy } from "./call.ts";
import { heldBy, living, type Member, memberOf, spent, type Team, works } from "./members.ts";
import { type Model, type Real, type Side, sides } from "./rig.ts";
import { detail, list } from "./rules.ts";
import { accountsIn, auditIn, membersIn, workIn } from "./tables.ts";

/** After every step: all members of both teams from the outside and in the tables, what was touched in full, and some credentials. */
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
  for (const side of sides) await checkCredentials(model[side], ({ holder }, i) => holder === step.touched || i % 7 === step.n % 7);
}

/** After the last step: everything. */
export async function checkAll(model: Model, real: Real): Promise<void> {
  for (const side of sides) {
    await checkLists(model[side], real, side);
    for (const member of model[side].members) await checkDetail(model[side], real, side, member);
    await checkCredentials(model[side], () => true);
  }
}

/** A member, its holder, and what it holds. */
const around = (team: Team, member: Member | undefined): readonly Member[] => {
  if (member === undefined) return [];
  const holder = memberOf(team, { id: member.delegation?.to ?? "" });
  return [member, ...(holder ? [holder] : []), ...heldBy(team, member)];
};

async function checkLists(team: Team, { service, rulers }: Real, side: Side): Promise<void> {
  const at = { url: service.url, wire: "v2", headers: { "x-api-key": rulers[side].management.key } } as const;
  for (const status of [undefined, "REMOVED"] as const) {
    const answer = await call(at, "list", status ? { status_filter: `USER_STATUS_${status}` } : {});
    expect({ body: answer.body }).toEqual(list(team, status ? { status } : {}));
  }
}

async function checkDetail(team: Team, { service, rulers }: Real, side: Side, { id }: Member): Promise<void> {
  const at = { url: service.url, wire: "connect", headers: { "x-api-key": rulers[side].management.key } } as const;
  const { refusal, body } = await call(at, "detail", { team_user_id: id });
  expect(refusal ? { refusals: [refusal] } : { body: tidy(body) }).toEqual(tidy(detail(team, { id })));
}

/** What was ended opens nothing, whatever happened since; what was not opens (contract/decisions.md 5, 6). */
async function checkCredentials(team: Team, which: (credential: Team["credentials"][number], i: number) => boolean): Promise<void> {
  for (const credential of team.credentials.filter(which)) {
    const lives = works(team, credential);
    if (spent.has(credential.kind) && !credential.ended) continue;
    expect(await credential.opens(), `${credential.kind} of ${credential.holder}`).toBe(lives);
  }
}

/** The rows of both teams are the model's, and hold what no rule may break. */
async function checkRows(model: Model, real: Real): Promise<void> {
  for (const side of sides) {
    const { spaceId } = real.rulers[side].owner;
    const rows = await membersIn(real.tables, spaceId);
    expect(rows).toEqual(model[side].members.map(rowOf).toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    checkInvariants(rows);
    const work = model[side].work.map(({ id, status }) => `${id} ${status}`);
    expect(await workIn(real.tables, spaceId), "what ran for somebody who may no more is stopped").toEqual(work.toSorted());
  }
  const known = sides.flatMap((side) => living(model[side])).flatMap(({ email, delegation }) => [delegation?.originalEmail ?? email]);
  const expected = real.addresses.filter((address, i) => i === 0 || known.includes(address));
  expect(await accountsIn(real.tables, real.addresses), "an account without a space is erased").toEqual(expected);
}

type Row = Awaited<ReturnType<typeof membersIn>>[number];

const rowOf = ({ id, email, name, role, status, delegation }: Member): Row => ({
  ...{ id, email, name: name ?? null, role: role.toLowerCase(), status: status.toLowerCase() },
  delegatedTo: delegation?.to ?? null,
  originalEmail: delegation?.originalEmail ?? null,
  delegatedAt: delegation?.at ?? null,
});

/** What holds of the rows alone, should the model be wrong itself. */
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
    expect({ status: holder?.status, delegatedTo: holder?.delegatedTo }, "no chains").toEqual({ status: "active", delegatedTo: null });
    expect([status === "removed", originalEmail === null, delegatedAt === null]).toEqual([false, false, false]);
    expect(email).toContain(`delegate-${id.toLowerCase()}@`);
  }
  for (const row of rows.filter(({ delegatedTo }) => delegatedTo === null))
    expect([row.originalEmail, row.delegatedAt]).toEqual([null, null]);
}

/** Every change that was answered has its row, in its own team's log, and there is no other. */
async function checkAudit(model: Model, { tables, rulers }: Real): Promise<void> {
  for (const side of sides) {
    const rows = await auditIn(tables, rulers[side].owner.spaceId, TeamUserManagementApiV2Service.typeName);
    expect(new Set(rows)).toEqual(
      new Set(model[side].changes.map(({ requestId, method, subject }) => `${requestId} ${method} ${subject}`)),
    );
    expect(rows).toHaveLength(model[side].changes.length);
  }
}
