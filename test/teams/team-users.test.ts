import { describe, expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { stillClock } from "../support/still-clock.ts";
import { callConnect } from "./call-connect.ts";
import { newEmail, outcomeOn, teamsRig, wires } from "./teams-rig.ts";

const MEMBER = "TEAM_MEMBER_ROLE_MEMBER";
const inactive = { status: "USER_STATUS_INACTIVE" };
const removed = { status: "USER_STATUS_REMOVED" };

describeOnOne("team users", (database) => {
  const clock = stillClock();
  const rig = teamsRig(database, { clock });

  test("are shown with exactly the specified fields (spec/enterprise.md 4.3)", async () => {
    const team = await rig.team();
    const lea = await rig.add(team, {
      role: "TEAM_MEMBER_ROLE_ADMIN",
      first_name: "Lea",
      last_name: "Roth",
      user_name: "beaten",
    });
    expect(lea).toEqual({
      team_user_id: expect.stringMatching(/^.{1,64}$/),
      email: lea.email,
      status: "USER_STATUS_ACTIVE",
      role: "TEAM_MEMBER_ROLE_ADMIN",
      user_name: "Lea Roth",
    });
    const ivo = await rig.add(team);
    expect(ivo).toEqual({
      team_user_id: expect.any(String),
      email: ivo.email,
      status: "USER_STATUS_ACTIVE",
      role: MEMBER,
    });
    const { user } = await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id);
    const shown = {
      team_user_id: ivo.team_user_id,
      email: `delegate-${ivo.team_user_id}@platform.test`.toLowerCase(),
      status: "USER_STATUS_INACTIVE",
      role: MEMBER,
      delegated_to: lea.team_user_id,
      original_email: ivo.email,
    };
    expect(user).toEqual(shown);
    const held = {
      team_user_id: ivo.team_user_id,
      display_name: ivo.email,
      role: MEMBER,
      delegated_at: new Date(clock.now()).toISOString().replace(".000Z", "Z"),
    };
    expect(await rig.ok(team, "detail", { email: lea.email.toUpperCase() })).toMatchObject({
      user: { ...lea, delegated_profiles: [held] },
    });
    // Never in a list.
    expect(
      (await rig.ok(team, "list", { delegation_state: "DELEGATION_STATE_HAS_DELEGATES" }))["users"],
    ).toEqual([lea]);
    expect((await rig.ok(team, "list", { delegation_state: "DELEGATION_STATE_DELEGATED" }))["users"]).toEqual(
      [shown],
    );
    expect(await rig.ok(team, "list", { delegation_state: "DELEGATION_STATE_NONE" })).toMatchObject({
      total: 1,
      users: [{ team_user_id: team.ownerId }],
    });
  });

  test.each([
    "v2",
    "connect",
    "v2-get",
  ] as const)("are listed in pages, the oldest first, with an exact total, over %s", async (wire) => {
    const team = await rig.team();
    const made = [team.ownerId];
    for (let i = 0; i < 4; i += 1) {
      await clock.advance(1000);
      made.push((await rig.add(team)).team_user_id);
    }
    await rig.ok(team, "update", { team_user_id: made[2] ?? "", ...inactive });
    await rig.ok(team, "remove", { team_user_id: made[3] ?? "" });
    const list = async (body: Record<string, string | number>) => {
      // Proto3's JSON omits empty values and zeros.
      if (wire === "connect")
        return {
          users: [],
          total: 0,
          offset: 0,
          ...(await callConnect(rig.service.url, team.management, "ListUsers", body)),
        };
      return (await team.management.v2("team.user.list", body, { method: wire === "v2" ? "POST" : "GET" }))
        .body;
    };
    const { users, ...page } = await list({});
    expect(page).toEqual({
      ok: true,
      request_id: expect.stringMatching(/^req_/),
      total: 4,
      limit: 100,
      offset: 0,
    });
    const ids = (listed: { team_user_id: string }[]) => listed.map(({ team_user_id }) => team_user_id);
    expect(ids(users)).toEqual([made[0], made[1], made[2], made[4]]);
    expect(await list({ limit: 2, offset: 1 })).toMatchObject({
      users: [{ team_user_id: made[1] }, { team_user_id: made[2] }],
      total: 4,
      limit: 2,
      offset: 1,
    });
    expect(await list({ offset: 9 })).toMatchObject({ users: [], total: 4, offset: 9 });
    expect(await list({ status_filter: "USER_STATUS_INACTIVE" })).toMatchObject({
      users: [{ team_user_id: made[2] }],
      total: 1,
    });
    // A tombstone is shown only when requested by its id.
    expect(await list({ status_filter: "USER_STATUS_REMOVED" })).toMatchObject({
      users: [{ team_user_id: made[3], ...removed }],
      total: 1,
    });
    expect(
      await list({ status_filter: "USER_STATUS_ACTIVE", delegation_state: "DELEGATION_STATE_DELEGATED" }),
    ).toMatchObject({
      users: [],
      total: 0,
    });
    expect(await list({ status_filter: "USER_STATUS_UNSPECIFIED" })).toMatchObject({ total: 4 });
  });

  test("leave and return: the answer of each transition, and the state afterwards", async () => {
    const team = await rig.team();
    const { team_user_id: id, email } = await rig.add(team, { user_name: "Ivo" });
    const at = { team_user_id: id };
    expect(
      await rig.ok(team, "update", { email, ...inactive, role: "TEAM_MEMBER_ROLE_GUEST" }),
    ).toMatchObject({
      user: { ...at, ...inactive, role: "TEAM_MEMBER_ROLE_GUEST" },
      cascade_affected: [],
    });
    expect(await rig.ok(team, "update", { ...at, status: "USER_STATUS_ACTIVE" })).toMatchObject({
      user: { status: "USER_STATUS_ACTIVE" },
    });
    expect(await rig.ok(team, "rename", { ...at, display_name: "Ivo (left)" })).toMatchObject({
      user: { user_name: "Ivo (left)" },
    });
    for (const [role, after] of [
      ["MIGRATED_PROFILE_ROLE_MEMBER", { status: "USER_STATUS_ACTIVE", role: MEMBER }],
      ["MIGRATED_PROFILE_ROLE_FREE_GUEST", { status: "USER_STATUS_ACTIVE", role: "TEAM_MEMBER_ROLE_GUEST" }],
      ["MIGRATED_PROFILE_ROLE_DEACTIVATED", { ...inactive, role: "TEAM_MEMBER_ROLE_GUEST" }],
    ] as const) {
      expect(await rig.delegateProfile(team, id, team.ownerId, role)).toMatchObject({
        user: { ...after, delegated_to: team.ownerId, original_email: email },
      });
      // It is found by its new address, and not by the old one.
      expect(await outcomeOn("v2", team.management, rig.service.url, "detail", { email })).toBe(
        "404 not_found",
      );
      expect(
        await rig.ok(team, "detail", { email: `delegate-${id}@platform.test`.toLowerCase() }),
      ).toMatchObject({ user: at });
      // spec/enterprise.md 13, rows 16, 17 and 19.
      expect(
        await rig.ok(team, "update", { ...at, ...inactive, role: "TEAM_MEMBER_ROLE_ADMIN" }),
      ).toMatchObject({
        user: { ...inactive, delegated_to: team.ownerId },
      });
      const back = await rig.ok(team, "reclaim", at);
      expect(back).toMatchObject({
        previous_delegate: team.ownerId,
        user: { ...at, email, ...inactive, role: "TEAM_MEMBER_ROLE_ADMIN", user_name: "Ivo (left)" },
      });
      expect(back["user"]).not.toHaveProperty("original_email");
      expect(back["user"]).not.toHaveProperty("delegated_to");
      await rig.ok(team, "update", { ...at, role: "TEAM_MEMBER_ROLE_GUEST" });
    }
    const gone = await rig.ok(team, "remove", at);
    expect(gone).toMatchObject({
      user: { ...at, email, ...removed, user_name: "Ivo (left)" },
      cascade_affected: [],
    });
    // The address is free, and its next user is another account.
    const next = await rig.add(team, { email });
    expect(next.team_user_id).not.toBe(id);
    expect(next).not.toHaveProperty("user_name");
  });

  test("who hold profiles release them on leaving ACTIVE in any way, and nothing else changes in those profiles", async () => {
    for (const [leave, body] of [
      ["update", inactive],
      ["update", removed],
      ["remove", {}],
    ] as const) {
      const team = await rig.team();
      const lea = await rig.add(team);
      const other = await rig.add(team);
      const ivo = await rig.add(team, { user_name: "Ivo" });
      const eva = await rig.add(team);
      const held = await rig.add(team);
      await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id, "MIGRATED_PROFILE_ROLE_FREE_GUEST");
      await clock.advance(1000);
      await rig.delegateProfile(team, eva.team_user_id, lea.team_user_id);
      await rig.delegateProfile(team, held.team_user_id, other.team_user_id);
      const affected = { action: "returned_to_pool", new_status: "USER_STATUS_INACTIVE" };
      const { user, cascade_affected } = await rig.ok(team, leave, {
        team_user_id: lea.team_user_id,
        ...body,
      });
      expect(cascade_affected).toEqual([
        { ...affected, team_user_id: ivo.team_user_id, display_name: "Ivo" },
        { ...affected, team_user_id: eva.team_user_id, display_name: eva.email },
      ]);
      expect(user).not.toHaveProperty("delegated_profiles");
      for (const [{ team_user_id, email }, role] of [
        [ivo, "TEAM_MEMBER_ROLE_GUEST"],
        [eva, MEMBER],
      ] as const) {
        const { user: back } = await rig.ok(team, "detail", { team_user_id });
        expect(back).toEqual({
          team_user_id,
          email,
          ...inactive,
          role,
          ...(email === ivo.email ? { user_name: "Ivo" } : {}),
        });
      }
      expect(await rig.ok(team, "detail", { team_user_id: held.team_user_id })).toMatchObject({
        user: { delegated_to: other.team_user_id },
      });
    }
  });

  test("removed while delegated disappear from their holder, without a cascade (13, row 18)", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id);
    const gone = await rig.ok(team, "remove", { team_user_id: ivo.team_user_id });
    expect(gone).toMatchObject({ user: { email: ivo.email, ...removed }, cascade_affected: [] });
    expect(gone["user"]).not.toHaveProperty("delegated_to");
    expect((await rig.ok(team, "detail", { team_user_id: lea.team_user_id }))["user"]).toEqual(lea);
    // A removal by update has the same effect.
    expect(await rig.ok(team, "update", { email: lea.email, ...removed })).toMatchObject({
      user: { ...lea, ...removed },
    });
  });

  test("regain their address if it is free by then, and otherwise keep the delegate address (13, row 15)", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team), await rig.add(team)];
    await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id);
    // No call can take it, because its account is in the team; a row can.
    expect(
      await outcomeOn("v2", team.management, rig.service.url, "create", { email: ivo.email, role: MEMBER }),
    ).toBe("409 already_exists");
    await runDirectly(
      rig.db,
      `UPDATE membership SET email = '${ivo.email}' WHERE id = '${lea.team_user_id}'`,
    );
    const { user } = await rig.ok(team, "reclaim", { team_user_id: ivo.team_user_id });
    expect(user).toMatchObject({
      email: `delegate-${ivo.team_user_id}@platform.test`.toLowerCase(),
      ...inactive,
    });
    // Again, with its current address.
    expect(
      await rig.ok(team, "delegate", {
        team_user_id: ivo.team_user_id,
        target_team_user_id: lea.team_user_id,
        role: "MIGRATED_PROFILE_ROLE_MEMBER",
      }),
    ).toMatchObject({
      user: { original_email: `delegate-${ivo.team_user_id}@platform.test`.toLowerCase() },
    });
  });

  test("are noted in the audit log, with the state before and after (spec/decisions.md 44)", async () => {
    const team = await rig.team();
    const [lea, ivo] = [await rig.add(team, { user_name: "Lea" }), await rig.add(team)];
    await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id);
    await rig.ok(team, "update", { team_user_id: lea.team_user_id, ...inactive });
    const rows = await runDirectly(
      rig.db,
      `SELECT operation, before, after FROM audit_event WHERE space_id = '${team.owner.spaceId}' AND subject = '${lea.team_user_id}' ORDER BY operation`,
    );
    const was = { email: lea.email, name: "Lea", role: "member", delegatedTo: null };
    const noted = rows.map(({ operation, before, after }) => ({
      operation: String(operation).split("/")[1],
      before: JSON.parse(String(before)),
      after: JSON.parse(String(after)),
    }));
    expect(noted).toEqual([
      { operation: "CreateUser", before: null, after: { ...was, status: "active" } },
      {
        operation: "UpdateUser",
        before: { ...was, status: "active" },
        after: { ...was, status: "inactive", keys: 0, tasks: 0, returned: [ivo.team_user_id] },
      },
    ]);
    const delegation = await rig.auditRow(
      "team.v2.TeamUserManagementApiV2Service/DelegateProfile",
      ivo.team_user_id,
    );
    expect(JSON.parse(String(delegation["after"]))).toMatchObject({
      delegatedTo: lea.team_user_id,
      status: "inactive",
    });
  });
});

describeOnOne("refusals of team users", (database) => {
  const rig = teamsRig(database);
  const code = {
    invalid_argument: ["400 invalid_argument", "InvalidArgument"],
    not_found: ["404 not_found", "NotFound"],
    already_exists: ["409 already_exists", "AlreadyExists"],
    failed_precondition: ["412 failed_precondition", "FailedPrecondition"],
  } as const;

  describe.each(wires)("over %s", (wire) => {
    const codeOf = (reason: keyof typeof code) => code[reason][wire === "v2" ? 0 : 1];

    test("each row of spec/enterprise.md 5 has its code, and nothing changes", async () => {
      const team = await rig.team();
      const stranger = await rig.team();
      const [lea, ivo, eva, off] = [
        await rig.add(team),
        await rig.add(team),
        await rig.add(team),
        await rig.add(team),
      ];
      await rig.delegateProfile(team, ivo.team_user_id, lea.team_user_id);
      await rig.ok(team, "update", { team_user_id: off.team_user_id, ...inactive });
      const past = await rig.add(team);
      await rig.ok(team, "remove", { team_user_id: past.team_user_id });
      const theirs = await rig.add(stranger);
      const delegation = (team_user_id: string, target_team_user_id: string) => ({
        team_user_id,
        target_team_user_id,
        role: "MIGRATED_PROFILE_ROLE_MEMBER",
      });
      const before = await rig.ok(team, "list", {});
      const rows: [name: string, body: Record<string, string | number>, reason: keyof typeof code][] = [
        ["list", { limit: 0 }, "invalid_argument"],
        ["list", { limit: 1001 }, "invalid_argument"],
        ["list", { offset: -1 }, "invalid_argument"],
        ["detail", {}, "invalid_argument"],
        ["detail", { team_user_id: "" }, "invalid_argument"],
        ["detail", { email: "nobody" }, "invalid_argument"],
        ["detail", { team_user_id: "x".repeat(65) }, "invalid_argument"],
        ["detail", { team_user_id: "nobody", email: lea.email }, "not_found"],
        ["detail", { email: newEmail() }, "not_found"],
        ["detail", { team_user_id: theirs.team_user_id }, "not_found"],
        ["detail", { email: theirs.email }, "not_found"],
        ["detail", { team_user_id: past.team_user_id }, "not_found"],
        ["create", { email: newEmail(), role: "TEAM_MEMBER_ROLE_OWNER" }, "invalid_argument"],
        ["create", { email: newEmail(), role: "TEAM_MEMBER_ROLE_UNSPECIFIED" }, "invalid_argument"],
        ["create", { email: newEmail() }, "invalid_argument"],
        ["create", { email: "nobody", role: MEMBER }, "invalid_argument"],
        ["create", { email: `${"a".repeat(65)}@corp.test`, role: MEMBER }, "invalid_argument"],
        ["create", { email: "delegate-x@platform.test", role: MEMBER }, "invalid_argument"],
        ["create", { email: newEmail(), role: MEMBER, user_name: "x".repeat(256) }, "invalid_argument"],
        ["create", { email: newEmail(), role: MEMBER, first_name: "x".repeat(129) }, "invalid_argument"],
        ["create", { email: newEmail(), role: MEMBER, user_name: "two\nlines" }, "invalid_argument"],
        ["create", { email: lea.email.toUpperCase(), role: MEMBER }, "already_exists"],
        ["create", { email: ivo.email, role: MEMBER }, "already_exists"],
        ["update", { team_user_id: lea.team_user_id }, "invalid_argument"],
        [
          "update",
          {
            team_user_id: lea.team_user_id,
            status: "USER_STATUS_UNSPECIFIED",
            role: "TEAM_MEMBER_ROLE_UNSPECIFIED",
          },
          "invalid_argument",
        ],
        ["update", inactive, "invalid_argument"],
        ["update", { team_user_id: lea.team_user_id, ...removed, role: MEMBER }, "invalid_argument"],
        ["update", { team_user_id: lea.team_user_id, role: "TEAM_MEMBER_ROLE_OWNER" }, "invalid_argument"],
        ["update", { team_user_id: theirs.team_user_id, ...inactive }, "not_found"],
        ["update", { team_user_id: past.team_user_id, status: "USER_STATUS_ACTIVE" }, "not_found"],
        ["update", { team_user_id: team.ownerId, ...inactive }, "failed_precondition"],
        ["update", { team_user_id: team.ownerId, role: "TEAM_MEMBER_ROLE_ADMIN" }, "failed_precondition"],
        ["update", { team_user_id: team.ownerId, ...removed }, "failed_precondition"],
        [
          "delegate",
          { ...delegation(off.team_user_id, lea.team_user_id), role: "MIGRATED_PROFILE_ROLE_UNSPECIFIED" },
          "invalid_argument",
        ],
        [
          "delegate",
          { team_user_id: off.team_user_id, target_team_user_id: lea.team_user_id },
          "invalid_argument",
        ],
        ["delegate", delegation(off.team_user_id, ""), "invalid_argument"],
        ["delegate", delegation("nobody", lea.team_user_id), "not_found"],
        ["delegate", delegation(off.team_user_id, "nobody"), "not_found"],
        ["delegate", delegation(off.team_user_id, theirs.team_user_id), "not_found"],
        ["delegate", delegation(past.team_user_id, lea.team_user_id), "not_found"],
        ["delegate", delegation(eva.team_user_id, lea.team_user_id), "failed_precondition"],
        ["delegate", delegation(team.ownerId, lea.team_user_id), "failed_precondition"],
        ["delegate", delegation(ivo.team_user_id, eva.team_user_id), "failed_precondition"],
        ["delegate", delegation(off.team_user_id, ivo.team_user_id), "failed_precondition"],
        ["delegate", delegation(off.team_user_id, off.team_user_id), "failed_precondition"],
        ["reclaim", { team_user_id: "nobody" }, "not_found"],
        ["reclaim", { team_user_id: "" }, "invalid_argument"],
        ["reclaim", { team_user_id: lea.team_user_id }, "failed_precondition"],
        ["rename", { team_user_id: team.ownerId, display_name: "x" }, "failed_precondition"],
        ["rename", { team_user_id: theirs.team_user_id, display_name: "x" }, "not_found"],
        ["rename", { team_user_id: lea.team_user_id, display_name: "" }, "invalid_argument"],
        ["rename", { team_user_id: lea.team_user_id, display_name: "x".repeat(256) }, "invalid_argument"],
        ["remove", { team_user_id: team.ownerId }, "failed_precondition"],
        ["remove", { team_user_id: past.team_user_id }, "not_found"],
        ["remove", { team_user_id: theirs.team_user_id }, "not_found"],
        ["remove", { team_user_id: "" }, "invalid_argument"],
        ["remove", { team_user_id: "x".repeat(65) }, "invalid_argument"],
      ];
      const outcomes = [];
      for (const [name, body] of rows)
        outcomes.push([name, body, await outcomeOn(wire, team.management, rig.service.url, name, body)]);
      expect(outcomes).toEqual(rows.map(([name, body, reason]) => [name, body, codeOf(reason)]));
      expect(await rig.ok(team, "list", {})).toEqual({ ...before, request_id: expect.any(String) });
      expect(await rig.ok(stranger, "list", {})).toMatchObject({ total: 2 });
    });
  });
});
