import { expect, test } from "vitest";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { TeamMemberRole } from "../../src/gen/proto/team/v2/team_user_pb.ts";
import { readClaimedGroups } from "../../src/sign-in-pages/group-claim.ts";
import { patchOf, scimOf } from "../scim/scim-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { openSignInPlatform } from "./people-rig.ts";
import { client, openProvider } from "./provider-rig.ts";

const { ADMIN, GUEST } = TeamMemberRole;

// spec/api.md 8.120, spec/decisions.md 143.
describeOnOne("groups from claims", (kind) => {
  test("follow the claim at each sign-in through the provider, with the role, and never change the owner", async () => {
    await using provider = await openProvider();
    await using platform = await openSignInPlatform(kind, {
      ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret },
      ...{ OIDC_GROUPS_CLAIM: "groups", OIDC_GROUPS_SCOPE: "groups" },
    });
    const { service, store, clock } = platform;
    // The provider's tokens expire by the system time.
    clock.step(Date.now() - clock.now());
    const owner = await service.person();
    const manager = await service.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    const scim = scimOf(service, manager);
    const teams = (await owner.session()).client(TeamService);
    const team = (await store.accounts.teamOf(owner.spaceId))?.name ?? "";
    const group = async (displayName: string, more: object, role?: TeamMemberRole): Promise<string> => {
      const { id } = (await scim("POST /Groups", { displayName, ...more })).body;
      if (role !== undefined) await teams.setGroupRole({ id, role });
      return id;
    };
    const [admins, guests, plain] = [
      await group("Admins", {}, ADMIN),
      await group("Guests", { externalId: "5d1f-guests" }, GUEST),
      await group("Plain", {}),
    ];
    const { accountId } = await platform.invite({ email: "ann@example.com", team });
    const state = async (id = accountId) => {
      const [row] = await platform.rows(
        `SELECT id, role FROM membership WHERE account_id = '${id}' AND space_id = '${owner.spaceId}'`,
      );
      const of = (
        await platform.rows(`SELECT group_id FROM team_group_member WHERE member_id = '${row?.["id"]}'`)
      ).map((one) => one["group_id"]);
      return [row?.["role"], ...[admins, guests, plain].map((one) => of.includes(one))];
    };
    const signIn = async (subject: string, email: string, groups: unknown, more = {}) => {
      provider.people.set(subject, {
        email,
        email_verified: true,
        ...(groups === undefined ? {} : { groups }),
        ...more,
      });
      const browser = platform.browser();
      const begun = await browser.get("/sign-in/single?next=/account");
      expect(new URL(begun.location).searchParams.get("scope")).toBe("openid email groups");
      const { status } = await browser.get(await provider.signIn(begun.location, subject));
      expect([200, 303]).toContain(status);
    };
    const ann = (groups: unknown, more = {}) => signIn("ann", "ann@example.com", groups, more);
    const audited = async () =>
      (await platform.rows("SELECT after FROM audit_event WHERE operation = 'console/FollowGroups'")).map(
        ({ after }) => (typeof after === "string" ? JSON.parse(after) : after),
      );

    await ann(["ADMINS", "unknown", "5d1f-guests"]);
    expect(await state()).toEqual(["admin", true, true, false]);
    // Names count in any letter case, external ids do not. The same claim changes nothing.
    await ann(["admins", "5D1F-GUESTS", "unknown"]);
    expect(await state()).toEqual(["admin", true, false, false]);
    expect(await audited()).toHaveLength(2);
    expect(await audited()).toContainEqual({
      added: expect.arrayContaining([admins, guests]),
      removed: [],
      role: "admin",
    });
    await ann(["admins", "unknown"]);
    expect(await audited()).toHaveLength(2);
    await ann("plain");
    expect(await state()).toEqual(["member", false, false, true]);
    // A claim that cannot be used changes nothing.
    for (const unusable of [
      ["admins", 5],
      Array.from({ length: 1001 }, (_, n) => `g${n}`),
      ["x".repeat(65_537)],
      { admins: true },
    ])
      await ann(unusable);
    await ann(undefined, { _claim_names: { groups: "src1" } });
    expect(await state()).toEqual(["member", false, false, true]);
    // SCIM puts the person into a group in the meantime. Without the claim there are no groups.
    const [member] = await platform.rows("SELECT id FROM membership WHERE email = 'ann@example.com'");
    await scim(
      `PATCH /Groups/${guests}`,
      patchOf({ op: "add", path: "members", value: [{ value: member?.["id"] }] }),
    );
    expect(await state()).toEqual(["guest", false, true, true]);
    await ann(undefined);
    expect(await state()).toEqual(["member", false, false, false]);

    // Sign-ins at the same time.
    await Promise.all([ann(["admins"]), ann(["admins"]), ann(["admins"])]);
    expect(await state()).toEqual(["admin", true, false, false]);

    // The owner is in the groups, and stays the owner.
    await store.change((tx) =>
      tx.signIns.bindIdentity(owner.accountId, { issuer: provider.issuer, subject: "owner" }),
    );
    await signIn("owner", "owner@example.com", ["guests"]);
    expect(await state(owner.accountId)).toEqual(["owner", false, true, false]);
    const lines = service.logged
      .filter(({ text }) => text.includes("in no team of the person"))
      .map(({ fields }) => fields["group"]);
    expect(lines.toSorted()).toEqual(["5D1F-GUESTS", "unknown"]);
    expect(service.logged.filter(({ text }) => text === "the claim with groups is not used")).toHaveLength(5);
  });
});

test("a claim is a text or a list of texts, also with a name that objects have", () => {
  expect(readClaimedGroups({ "https://example.com/groups": "a" }, "https://example.com/groups")).toEqual({
    names: new Set(["a"]),
  });
  expect(readClaimedGroups({}, "constructor")).toEqual({ names: new Set() });
  expect(readClaimedGroups({ _claim_names: { groups: "s" } }, "groups")).toEqual({
    unusable: "the provider sends it in another way",
  });
});
