import { afterAll, beforeAll, expect, test } from "vitest";
import type { MemberStatus, Role } from "../../../src/core/accounts/account.ts";
import { makeFirstAccount } from "../../../src/core/accounts/first-start.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { findRecipient } from "../../../src/core/keys/recipient.ts";
import type { Store } from "../../../src/core/store.ts";
import { describeOnEach, openTestStore } from "../../support/database.ts";

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

async function join(
  store: Store,
  team: { teamId: string; spaceId: string },
  accountId: string,
  role: Role,
  status: MemberStatus = "active",
): Promise<void> {
  const member = { id: systemIds.short(), ...team, accountId, email: `${accountId}@example.com`, role, status, createdAt };
  await store.change((tx) => tx.accounts.insertMember(member));
}

/** The first team of Ann, in which Bo is a member, Ina inactive and Rex removed; Cy's team "north"; Pia with a personal space. */
async function openTown(kind: "sqlite" | "postgresql") {
  const test = await openTestStore(kind);
  const { store } = test;
  const ann = await store.change((tx) => makeFirstAccount(tx, { now: createdAt, ids: systemIds, random: systemRandom }, "ann@example.com"));
  if (!ann) throw new Error("no first account");
  const first = { teamId: ann.teamId, spaceId: ann.spaceId };
  const north = await addTeam(store, "north");
  const [bo, ina, rex, cy, pia] = await Promise.all(
    ["bo", "ina", "rex", "cy", "pia"].map((name) => addAccount(store, `${name}@example.com`)),
  );
  if (!bo || !ina || !rex || !cy || !pia) throw new Error("no accounts");
  await join(store, first, bo, "member");
  await join(store, first, ina, "member", "inactive");
  await join(store, first, rex, "member", "removed");
  await join(store, north, cy, "owner");
  await join(store, north, bo, "guest");
  const own = systemIds.short();
  await store.change((tx) => tx.accounts.insertSpace({ id: own, kind: "personal", createdAt, accountId: pia }));
  const spaces = { first: first.spaceId, north: north.spaceId, own };
  return { ...test, spaces, ann: ann.accountId, bo, cy, pia };
}

describeOnEach("a key that a command makes", (kind) => {
  let town: Awaited<ReturnType<typeof openTown>>;
  beforeAll(async () => {
    town = await openTown(kind);
  });
  afterAll(() => town[Symbol.asyncDispose]());

  test.each([
    { asked: {}, who: "ann", where: "first" },
    { asked: { team: "north" }, who: "cy", where: "north" },
    { asked: { email: "bo@example.com" }, who: "bo", where: "first" },
    { asked: { email: "BO@example.com", team: "north" }, who: "bo", where: "north" },
    { asked: { email: "pia@example.com" }, who: "pia", where: "own" },
    { asked: { kind: "ediscovery" }, who: "ann", where: "first" },
    { asked: { kind: "siem", email: "cy@example.com", team: "north" }, who: "cy", where: "north" },
  ] as const)("belongs, for $asked, to $who in $where", async ({ asked, who, where }) => {
    const recipient = await town.store.change((tx) => findRecipient(tx, { kind: "general", ...asked }));
    expect(recipient).toEqual({ accountId: town[who], spaceId: town.spaces[where] });
  });

  test.each([
    { why: "no such person", asked: { email: "nobody@example.com" }, reason: "absent" },
    { why: "no such team", asked: { team: "south" }, reason: "absent" },
    { why: "somebody of another team", asked: { email: "cy@example.com" }, reason: "absent" },
    { why: "somebody with a personal space, in a team", asked: { email: "pia@example.com", team: "north" }, reason: "absent" },
    { why: "a removed member", asked: { email: "rex@example.com" }, reason: "absent" },
    { why: "an inactive member", asked: { email: "ina@example.com" }, reason: "precondition" },
    { why: "an owner's kind for a member", asked: { email: "bo@example.com", kind: "siem" }, reason: "precondition" },
    { why: "an owner's kind in a personal space", asked: { email: "pia@example.com", kind: "siem" }, reason: "precondition" },
  ] as const)("is refused: $why", async ({ asked, reason }) => {
    await expect(town.store.change((tx) => findRecipient(tx, { kind: "general", ...asked }))).rejects.toMatchObject({ reason });
  });

  test("needs a team to be there", async () => {
    await using empty = await openTestStore(kind);
    await expect(empty.store.change((tx) => findRecipient(tx, { kind: "general" }))).rejects.toMatchObject({ reason: "absent" });
  });
});
