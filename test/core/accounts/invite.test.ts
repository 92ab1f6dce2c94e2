import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFirstAccount } from "../../../src/core/accounts/first-start.ts";
import { type Invitation, invite } from "../../../src/core/accounts/invite.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { findRecipient } from "../../../src/core/keys/recipient.ts";
import { linkDigest } from "../../../src/core/sign-in/link.ts";
import { describeOnEach, openTestStore, rowsIn, runOn, type TestStore } from "../../support/database.ts";

const now = 1_790_000_000_000;
const making = { now, ids: systemIds, random: systemRandom };

describeOnEach("an invitation", (kind) => {
  let opened: TestStore;
  beforeAll(async () => {
    opened = await openTestStore(kind);
    await opened.store.change((tx) => makeFirstAccount(tx, making, "owner@example.com"));
  });
  afterAll(() => opened[Symbol.asyncDispose]());
  // The first team stays the oldest.
  const asked = (invitation: Invitation) => opened.store.change((tx) => invite(tx, { ...making, now: now + 1 }, invitation));
  const count = async (from: string) => (await rowsIn(opened.url, `SELECT 1 AS one FROM ${from}`)).length;

  test("makes an account, an active membership, a default agent and a link for a day", async () => {
    const { accountId, spaceId, link, team } = await asked({ email: " Bo@Example.com " });
    expect(team).toBe("main");
    const [member] = await rowsIn(opened.url, `SELECT email, role, status, signed_in_at FROM membership WHERE account_id = '${accountId}'`);
    expect(member).toEqual({ email: "bo@example.com", role: "member", status: "active", signed_in_at: null });
    expect(await count(`agent WHERE account_id = '${accountId}' AND space_id = '${spaceId}'`)).toBe(1);
    expect(await opened.store.links.open(linkDigest(link), now)).toMatchObject({ accountId, spaceId, expiresAt: now + 1 + 24 * 3_600_000 });
  });

  test("lets keys be made before the first sign-in", async () => {
    const { accountId, spaceId } = await asked({ email: "early@example.com" });
    const recipient = await opened.store.change((tx) => findRecipient(tx, { email: "early@example.com", kind: "general" }));
    expect(recipient).toEqual({ accountId, spaceId });
  });

  test("of somebody who is there gives a fresh link, and changes nothing else", async () => {
    const first = await asked({ email: "cy@example.com", role: "guest" });
    const before = [await count("account"), await count("membership"), await count("agent")];
    const again = await asked({ email: "CY@example.com", role: "admin" });
    expect(again).toMatchObject({ accountId: first.accountId, spaceId: first.spaceId });
    expect(again.link).not.toBe(first.link);
    expect([await count("account"), await count("membership"), await count("agent")]).toEqual(before);
    expect(await count(`membership WHERE account_id = '${first.accountId}' AND role = 'guest'`)).toBe(1);
    expect(await opened.store.links.open(linkDigest(first.link), now)).not.toBeNull();
  });

  test("gives the owner a link, also when owner is said once more", async () => {
    expect(await asked({ email: "owner@example.com" })).toMatchObject({ team: "main" });
    expect(await asked({ email: "owner@example.com", role: "owner" })).toMatchObject({ team: "main" });
  });

  test("makes an unknown team for its owner, and takes others into it afterwards", async () => {
    const owner = await asked({ email: "no@example.com", team: "north", role: "owner" });
    const member = await asked({ email: "na@example.com", team: "north" });
    expect(member.spaceId).toBe(owner.spaceId);
  });

  test("gives one account several teams", async () => {
    const main = await asked({ email: "both@example.com" });
    const other = await asked({ email: "both@example.com", team: "west", role: "owner" });
    expect(other.accountId).toBe(main.accountId);
    expect((await opened.store.signIns.places(main.accountId)).map(({ team }) => team?.name)).toEqual(["main", "west"]);
  });

  test("with a space of one's own makes that, and a fresh link the next time", async () => {
    const first = await asked({ email: "pia@example.com", personal: true });
    expect(first.team).toBeNull();
    expect(await asked({ email: "pia@example.com", personal: true })).toMatchObject({ accountId: first.accountId, spaceId: first.spaceId });
    expect(await opened.store.signIns.places(first.accountId)).toEqual([{ spaceId: first.spaceId, team: null }]);
  });

  test("takes a removed member in anew, beside the tombstone", async () => {
    const { accountId } = await asked({ email: "rex@example.com" });
    await runOn(opened.url, `UPDATE membership SET status = 'removed' WHERE account_id = '${accountId}'`);
    await asked({ email: "rex@example.com", role: "admin" });
    const members = await rowsIn(opened.url, `SELECT role, status FROM membership WHERE account_id = '${accountId}' ORDER BY status`);
    expect(members).toEqual([
      { role: "admin", status: "active" },
      { role: "member", status: "removed" },
    ]);
  });

  test.each([
    { why: "an unknown team without an owner", asks: { email: "x@example.com", team: "nowhere" }, reason: "precondition" },
    { why: "a second owner", asks: { email: "x@example.com", role: "owner" }, reason: "precondition" },
    { why: "no address", asks: { email: "nobody" }, reason: "invalid" },
    { why: "two addresses", asks: { email: "a@example.com,b@example.com" }, reason: "invalid" },
    { why: "a line in the address", asks: { email: "a@example.com\nBcc: b@example.com" }, reason: "invalid" },
    { why: "a team without a name", asks: { email: "x@example.com", team: " ", role: "owner" }, reason: "invalid" },
    { why: "a personal space for an account that has none", asks: { email: "owner@example.com", personal: true }, reason: "precondition" },
  ] as const)("is refused, and leaves nothing behind: $why", async ({ asks, reason }) => {
    const before = [await count("account"), await count("team"), await count("sign_in_link")];
    await expect(asked(asks)).rejects.toMatchObject({ reason });
    expect([await count("account"), await count("team"), await count("sign_in_link")]).toEqual(before);
  });

  test.each(["status = 'inactive'", "delegated_to = 'x'"])("is refused for a member whose %s: the link would open nothing", async (set) => {
    const { accountId } = await asked({ email: "ina@example.com" });
    await runOn(opened.url, `UPDATE membership SET ${set} WHERE account_id = '${accountId}'`);
    await expect(asked({ email: "ina@example.com" })).rejects.toMatchObject({ reason: "precondition" });
    await runOn(opened.url, `UPDATE membership SET status = 'active', delegated_to = NULL WHERE account_id = '${accountId}'`);
  });

  test("that is made by twenty at once makes one account and one membership", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => asked({ email: "race@example.com" })));
    expect(new Set(made.map(({ accountId }) => accountId)).size).toBe(1);
    expect(new Set(made.map(({ link }) => link)).size).toBe(20);
    expect(await count(`membership WHERE account_id = '${made[0]?.accountId}'`)).toBe(1);
  });

  test("makes one owner, whoever of ten comes first", async () => {
    const asks = Array.from({ length: 10 }, (_, i) => asked({ email: `boss-${i}@example.com`, team: "contested", role: "owner" }));
    const made = await Promise.allSettled(asks);
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await count("team WHERE name = 'contested'")).toBe(1);
  });
});
