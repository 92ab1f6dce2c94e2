import { afterAll, beforeAll, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { findRecipient } from "../../../src/core/keys/recipient.ts";
import { linkDigest } from "../../../src/core/sign-in/link.ts";
import { createFirstAccount } from "../../../src/core/use-cases/initialize-installation.ts";
import { type Invitation, invitePerson } from "../../../src/core/use-cases/invite-person.ts";
import { describeOnOne, openTestStore, rowsIn, runOn, type TestStore } from "../../support/database.ts";

const now = 1_790_000_000_000;
const making = { now, ids: systemIds, random: systemRandom };

describeOnOne("an invitation", (kind) => {
  let database: TestStore;
  beforeAll(async () => {
    database = await openTestStore(kind);
    await database.store.change((tx) => createFirstAccount(tx, making, "owner@example.com"));
  });
  afterAll(() => database[Symbol.asyncDispose]());
  // The first team stays the oldest one.
  const inviteAs = (invitation: Invitation) =>
    database.store.change((tx) => invitePerson(tx, { ...making, now: now + 1 }, invitation));
  const count = async (from: string) => (await rowsIn(database.url, `SELECT 1 AS one FROM ${from}`)).length;

  test("makes an account, an active membership, a default agent and a link valid for a day", async () => {
    const { accountId, spaceId, link, team } = await inviteAs({ email: " Bo@Example.com " });
    expect(team).toBe("main");
    const [member] = await rowsIn(
      database.url,
      `SELECT email, role, status, signed_in_at FROM membership WHERE account_id = '${accountId}'`,
    );
    expect(member).toEqual({ email: "bo@example.com", role: "member", status: "active", signed_in_at: null });
    expect(await count(`agent WHERE account_id = '${accountId}' AND space_id = '${spaceId}'`)).toBe(1);
    expect(await database.store.links.findOpen(linkDigest(link), now)).toMatchObject({
      accountId,
      spaceId,
      expiresAt: now + 1 + 24 * 3_600_000,
    });
  });

  test("lets keys be made before the first sign-in", async () => {
    const { accountId, spaceId } = await inviteAs({ email: "early@example.com" });
    const recipient = await database.store.change((tx) =>
      findRecipient(tx, { email: "early@example.com", kind: "general" }),
    );
    expect(recipient).toEqual({ accountId, spaceId });
  });

  test("of an existing member makes a fresh link and changes nothing else", async () => {
    const first = await inviteAs({ email: "cy@example.com", role: "guest" });
    const before = [await count("account"), await count("membership"), await count("agent")];
    const again = await inviteAs({ email: "CY@example.com", role: "admin" });
    expect(again).toMatchObject({ accountId: first.accountId, spaceId: first.spaceId });
    expect(again.link).not.toBe(first.link);
    expect([await count("account"), await count("membership"), await count("agent")]).toEqual(before);
    expect(await count(`membership WHERE account_id = '${first.accountId}' AND role = 'guest'`)).toBe(1);
    expect(await database.store.links.findOpen(linkDigest(first.link), now)).not.toBeNull();
  });

  test("makes a link for the owner, also when the role owner is repeated", async () => {
    expect(await inviteAs({ email: "owner@example.com" })).toMatchObject({ team: "main" });
    expect(await inviteAs({ email: "owner@example.com", role: "owner" })).toMatchObject({ team: "main" });
  });

  test("makes an unknown team for its owner, and adds other members later", async () => {
    const owner = await inviteAs({ email: "no@example.com", team: "north", role: "owner" });
    const member = await inviteAs({ email: "na@example.com", team: "north" });
    expect(member.spaceId).toBe(owner.spaceId);
  });

  test("adds one account to several teams", async () => {
    const main = await inviteAs({ email: "both@example.com" });
    const other = await inviteAs({ email: "both@example.com", team: "west", role: "owner" });
    expect(other.accountId).toBe(main.accountId);
    expect((await database.store.signIns.listSpaces(main.accountId)).map(({ team }) => team?.name)).toEqual([
      "main",
      "west",
    ]);
  });

  test("with a personal space makes the space, and only a fresh link the next time", async () => {
    const first = await inviteAs({ email: "pia@example.com", personal: true });
    expect(first.team).toBeNull();
    expect(await inviteAs({ email: "pia@example.com", personal: true })).toMatchObject({
      accountId: first.accountId,
      spaceId: first.spaceId,
    });
    expect(await database.store.signIns.listSpaces(first.accountId)).toEqual([
      { spaceId: first.spaceId, team: null },
    ]);
  });

  test("adds a removed member again as a new member, and keeps the tombstone", async () => {
    const { accountId } = await inviteAs({ email: "rex@example.com" });
    await runOn(database.url, `UPDATE membership SET status = 'removed' WHERE account_id = '${accountId}'`);
    await inviteAs({ email: "rex@example.com", role: "admin" });
    const members = await rowsIn(
      database.url,
      `SELECT role, status FROM membership WHERE account_id = '${accountId}' ORDER BY status`,
    );
    expect(members).toEqual([
      { role: "admin", status: "active" },
      { role: "member", status: "removed" },
    ]);
  });

  test.each([
    {
      why: "an unknown team without an owner",
      invitation: { email: "x@example.com", team: "nowhere" },
      reason: "failed_precondition",
    },
    {
      why: "a second owner",
      invitation: { email: "x@example.com", role: "owner" },
      reason: "failed_precondition",
    },
    { why: "no address", invitation: { email: "nobody" }, reason: "invalid_argument" },
    {
      why: "two addresses",
      invitation: { email: "a@example.com,b@example.com" },
      reason: "invalid_argument",
    },
    {
      why: "a line in the address",
      invitation: { email: "a@example.com\nBcc: b@example.com" },
      reason: "invalid_argument",
    },
    {
      why: "a team without a name",
      invitation: { email: "x@example.com", team: " ", role: "owner" },
      reason: "invalid_argument",
    },
    {
      why: "a personal space for an account that has none",
      invitation: { email: "owner@example.com", personal: true },
      reason: "failed_precondition",
    },
  ] as const)("is refused and changes nothing: $why", async ({ invitation: asks, reason }) => {
    const before = [await count("account"), await count("team"), await count("sign_in_link")];
    await expect(inviteAs(asks)).rejects.toMatchObject({ reason });
    expect([await count("account"), await count("team"), await count("sign_in_link")]).toEqual(before);
  });

  test.each([
    "status = 'inactive'",
    "delegated_to = 'x'",
  ])("is refused for a member with %s, because the link would grant no access", async (set) => {
    const { accountId } = await inviteAs({ email: "ina@example.com" });
    await runOn(database.url, `UPDATE membership SET ${set} WHERE account_id = '${accountId}'`);
    await expect(inviteAs({ email: "ina@example.com" })).rejects.toMatchObject({
      reason: "failed_precondition",
    });
    await runOn(
      database.url,
      `UPDATE membership SET status = 'active', delegated_to = NULL WHERE account_id = '${accountId}'`,
    );
  });

  test("made by twenty callers at once makes one account and one membership", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => inviteAs({ email: "race@example.com" })));
    expect(new Set(made.map(({ accountId }) => accountId)).size).toBe(1);
    expect(new Set(made.map(({ link }) => link)).size).toBe(20);
    expect(await count(`membership WHERE account_id = '${made[0]?.accountId}'`)).toBe(1);
  });

  test("makes one owner when ten invitations run at once", async () => {
    const asks = Array.from({ length: 10 }, (_, i) =>
      inviteAs({ email: `boss-${i}@example.com`, team: "contested", role: "owner" }),
    );
    const made = await Promise.allSettled(asks);
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await count("team WHERE name = 'contested'")).toBe(1);
  });
});
