import { afterAll, beforeAll, expect, test } from "vitest";
import type { MemberStatus, Role } from "../../../src/core/accounts/account.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { findRecipient } from "../../../src/core/keys/recipient.ts";
import type { Store } from "../../../src/core/store.ts";
import { createFirstAccount } from "../../../src/core/use-cases/initialize-installation.ts";
import { describeOnOne, openTestStore } from "../../support/database.ts";

const createdAt = 1_790_000_000_000;

async function addTeam(store: Store, name: string): Promise<{ teamId: string; spaceId: string }> {
  const [teamId, spaceId] = [systemIds.short(), systemIds.short()];
  await store.change(async (tx) => {
    await tx.accounts.insertSpace({ id: spaceId, kind: "team", createdAt, accountId: null });
    await tx.accounts.insertTeam({ id: teamId, spaceId, name, createdAt: createdAt + 1 });
  });
  return { teamId, spaceId };
}

async function addAccount(store: Store, email: string): Promise<string> {
  const id = systemIds.uuid();
  await store.change((tx) => tx.accounts.insertAccount({ id, email, name: null, locale: "en", createdAt }));
  return id;
}

async function addMember(
  store: Store,
  team: { teamId: string; spaceId: string },
  accountId: string,
  role: Role,
  status: MemberStatus = "active",
): Promise<void> {
  const member = {
    id: systemIds.short(),
    ...team,
    accountId,
    email: `${accountId}@example.com`,
    role,
    status,
    createdAt,
  };
  await store.change((tx) => tx.accounts.insertMember(member));
}

/**
 * Ann's first team, with Bo as a member, Ina inactive and Rex removed; Cy's team "north"; Pia with a personal
 * space.
 */
async function openTeams(kind: "sqlite" | "postgresql") {
  const database = await openTestStore(kind);
  const { store } = database;
  const ann = await store.change((tx) =>
    createFirstAccount(tx, { now: createdAt, ids: systemIds, random: systemRandom }, "ann@example.com"),
  );
  if (!ann) throw new Error("no first account");
  const first = { teamId: ann.teamId, spaceId: ann.spaceId };
  const north = await addTeam(store, "north");
  const [bo, ina, rex, cy, pia] = await Promise.all(
    ["bo", "ina", "rex", "cy", "pia"].map((name) => addAccount(store, `${name}@example.com`)),
  );
  if (!bo || !ina || !rex || !cy || !pia) throw new Error("no accounts");
  await addMember(store, first, bo, "member");
  await addMember(store, first, ina, "member", "inactive");
  await addMember(store, first, rex, "member", "removed");
  await addMember(store, north, cy, "owner");
  await addMember(store, north, bo, "guest");
  const own = systemIds.short();
  await store.change((tx) =>
    tx.accounts.insertSpace({ id: own, kind: "personal", createdAt, accountId: pia }),
  );
  const spaces = { first: first.spaceId, north: north.spaceId, own };
  return { ...database, spaces, ann: ann.accountId, bo, cy, pia };
}

describeOnOne("a key made by a command", (kind) => {
  let teams: Awaited<ReturnType<typeof openTeams>>;
  beforeAll(async () => {
    teams = await openTeams(kind);
  });
  afterAll(() => teams[Symbol.asyncDispose]());

  test.each([
    { requested: {}, who: "ann", where: "first" },
    { requested: { team: "north" }, who: "cy", where: "north" },
    { requested: { email: "bo@example.com" }, who: "bo", where: "first" },
    { requested: { email: "BO@example.com", team: "north" }, who: "bo", where: "north" },
    { requested: { email: "pia@example.com" }, who: "pia", where: "own" },
    { requested: { kind: "ediscovery" }, who: "ann", where: "first" },
    { requested: { kind: "siem", email: "cy@example.com", team: "north" }, who: "cy", where: "north" },
  ] as const)("belongs, for $requested, to $who in $where", async ({ requested, who, where }) => {
    const recipient = await teams.store.change((tx) => findRecipient(tx, { kind: "general", ...requested }));
    expect(recipient).toEqual({ accountId: teams[who], spaceId: teams.spaces[where] });
  });

  test.each([
    { why: "no such person", requested: { email: "nobody@example.com" }, reason: "not_found" },
    { why: "no such team", requested: { team: "south" }, reason: "not_found" },
    { why: "a member of another team", requested: { email: "cy@example.com" }, reason: "not_found" },
    {
      why: "an account with only a personal space, in a team",
      requested: { email: "pia@example.com", team: "north" },
      reason: "not_found",
    },
    { why: "a removed member", requested: { email: "rex@example.com" }, reason: "not_found" },
    { why: "an inactive member", requested: { email: "ina@example.com" }, reason: "failed_precondition" },
    {
      why: "an enterprise kind for a member",
      requested: { email: "bo@example.com", kind: "siem" },
      reason: "failed_precondition",
    },
    {
      why: "an enterprise kind in a personal space",
      requested: { email: "pia@example.com", kind: "siem" },
      reason: "failed_precondition",
    },
  ] as const)("is refused: $why", async ({ requested, reason }) => {
    await expect(
      teams.store.change((tx) => findRecipient(tx, { kind: "general", ...requested })),
    ).rejects.toMatchObject({ reason });
  });

  test("needs an existing team", async () => {
    await using empty = await openTestStore(kind);
    await expect(empty.store.change((tx) => findRecipient(tx, { kind: "general" }))).rejects.toMatchObject({
      reason: "not_found",
    });
  });
});
