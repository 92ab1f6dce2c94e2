import { beforeAll, expect, test } from "vitest";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { TeamMemberRole } from "../../src/gen/proto/team/v2/team_user_pb.ts";
import { outcomeOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { type CallScim, patchOf, refusal, scimOf } from "./scim-rig.ts";

const { ADMIN, MEMBER, GUEST } = TeamMemberRole;

// spec/enterprise.md 5.9
describeOnOne("roles from groups", (database) => {
  const rig = settingsRig(database);
  let owner: Person;
  let manager: Person;
  let scim: CallScim;
  let teams: ReturnType<typeof sessionOf>;
  const sessionOf = (who: Awaited<ReturnType<Person["session"]>>) => who.client(TeamService);
  beforeAll(async () => {
    owner = await rig.person();
    manager = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    scim = scimOf(rig.service, manager);
    teams = sessionOf(await owner.session());
  });
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const next = () => numbers.pop();
  const user = async (more = {}): Promise<string> =>
    (await scim("POST /Users", { userName: `p${next()}@corp.example`, ...more })).body.id;
  const group = async (...ids: string[]): Promise<string> =>
    (await scim("POST /Groups", { displayName: `g${next()}`, members: ids.map((value) => ({ value })) })).body
      .id;
  const roleOf = async (id: string): Promise<string> => (await scim(`GET /Users/${id}`)).body.roles[0].value;
  const map = (id: string, role?: TeamMemberRole) =>
    teams.setGroupRole({ id, ...(role === undefined ? {} : { role }) });
  const change = (id: string, role: string) =>
    manager.v2("team.user.update", { team_user_id: id, role: `TEAM_MEMBER_ROLE_${role}` });

  test("the highest role of a person's groups counts; without one, the person is a member", async () => {
    const [ann, bo] = [await user(), await user({ roles: ["guest"] })];
    const [admins, guests] = [await group(ann), await group(ann, bo)];
    expect([await roleOf(ann), await roleOf(bo)]).toEqual(["member", "guest"]);
    expect(await map(guests, GUEST)).toMatchObject({ group: { id: guests, role: GUEST, members: 2 } });
    expect([await roleOf(ann), await roleOf(bo)]).toEqual(["guest", "guest"]);
    await map(admins, ADMIN);
    expect([await roleOf(ann), await roleOf(bo)]).toEqual(["admin", "guest"]);
    await scim(`PATCH /Groups/${admins}`, patchOf({ op: "add", path: "members", value: [{ value: bo }] }));
    expect(await roleOf(bo)).toBe("admin");
    await scim(`PATCH /Groups/${admins}`, patchOf({ op: "remove", path: `members[value eq "${bo}"]` }));
    expect(await roleOf(bo)).toBe("guest");
    await map(guests);
    expect([await roleOf(ann), await roleOf(bo)]).toEqual(["admin", "member"]);
    await map(guests, MEMBER);
    await scim(`DELETE /Groups/${admins}`);
    expect([await roleOf(ann), await roleOf(bo)]).toEqual(["member", "member"]);
  });

  test("a person who was never in a group with a role keeps the role", async () => {
    const ann = await user({ roles: ["guest"] });
    const id = await group(ann);
    await scim(`PUT /Groups/${id}`, { displayName: `g${next()}`, members: [] });
    await scim(`DELETE /Groups/${id}`);
    expect(await roleOf(ann)).toBe("guest");
  });

  test("a role of a group is not set by hand, except for the role of a super admin", async () => {
    const ann = await user();
    const id = await group(ann);
    await map(id, GUEST);
    expect(await change(ann, "ADMIN")).toMatchObject({
      status: 412,
      body: { error: { code: "failed_precondition" } },
    });
    expect(
      await scim(`PATCH /Users/${ann}`, patchOf({ op: "replace", path: "roles", value: "admin" })),
    ).toMatchObject(refusal(400, "mutability"));
    expect((await scim(`PATCH /Users/${ann}`, patchOf({ op: "remove", path: "roles" }))).status).toBe(200);
    expect(await change(ann, "GUEST")).toMatchObject({ status: 200 });
    expect(await change(ann, "SUPER_ADMIN")).toMatchObject({ status: 200 });
    await map(id, ADMIN);
    expect((await scim(`PATCH /Users/${ann}`, patchOf({ op: "remove", path: "roles" }))).status).toBe(200);
    expect(await roleOf(ann)).toBe("super_admin");
    expect(await change(ann, "MEMBER")).toMatchObject({ status: 412 });
    expect(await change(ann, "ADMIN")).toMatchObject({ status: 200 });
    expect(await roleOf(ann)).toBe("admin");
  });

  test("SCIM does not grant the role of a super admin, and accepts it for a super admin", async () => {
    const ann = await user();
    const raise = patchOf({ op: "replace", path: "roles", value: "super_admin" });
    expect(await scim(`PATCH /Users/${ann}`, raise)).toMatchObject(refusal(400, "invalidValue"));
    const made = { userName: "s@corp.example", roles: ["super_admin"] };
    expect(await scim("POST /Users", made)).toMatchObject(refusal(400, "invalidValue"));
    await change(ann, "SUPER_ADMIN");
    expect(await scim(`PATCH /Users/${ann}`, raise)).toMatchObject({ status: 200 });
  });

  test("owner and super admins keep their role in every group", async () => {
    const ann = await user();
    await change(ann, "SUPER_ADMIN");
    const ownerId = (await scim("GET /Users?count=1")).body.Resources[0].id;
    await map(await group(ann, ownerId), GUEST);
    expect([await roleOf(ann), await roleOf(ownerId)]).toEqual(["super_admin", "owner"]);
  });

  test("a delegated profile gets the role of its groups when it is reclaimed; a removed member leaves them", async () => {
    const [ann, bo] = [await user(), await user()];
    const id = await group(ann, bo);
    await manager.v2("team.user.update", { team_user_id: ann, status: "USER_STATUS_INACTIVE" });
    const delegation = { team_user_id: ann, target_team_user_id: bo, role: "MIGRATED_PROFILE_ROLE_MEMBER" };
    expect((await manager.v2("team.user.delegate", delegation)).status).toBe(200);
    await map(id, ADMIN);
    expect(await roleOf(ann)).toBe("member");
    const { version } = (await scim(`GET /Groups/${id}`)).body.meta;
    await scim(`DELETE /Users/${bo}`);
    expect(await roleOf(ann)).toBe("admin");
    const { members, meta } = (await scim(`GET /Groups/${id}`)).body;
    expect(members.map(({ value }: { value: string }) => value)).toEqual([ann]);
    expect(meta.version).not.toBe(version);
  });

  test("a profile that team.user.reclaim returns has the role of its groups", async () => {
    const [ann, bo] = [await user(), await user()];
    await map(await group(ann), ADMIN);
    await manager.v2("team.user.update", { team_user_id: ann, status: "USER_STATUS_INACTIVE" });
    const delegation = { team_user_id: ann, target_team_user_id: bo, role: "MIGRATED_PROFILE_ROLE_MEMBER" };
    expect((await manager.v2("team.user.delegate", delegation)).status).toBe(200);
    expect((await manager.v2("team.user.reclaim", { team_user_id: ann })).status).toBe(200);
    expect(await roleOf(ann)).toBe("admin");
  });

  test("only the owner's session maps a group, to guest, member or admin, with an audit row", async () => {
    const ann = await user();
    const id = await group(ann);
    const admin = sessionOf(await (await rig.person({ with: owner, role: "super_admin" })).session());
    expect(await outcomeOf(admin.setGroupRole({ id, role: ADMIN }))).toMatch(/^PermissionDenied/);
    expect((await admin.listGroups({ limit: 1000 })).data.map((one) => one.id)).toContain(id);
    for (const role of [TeamMemberRole.OWNER, TeamMemberRole.SUPER_ADMIN, TeamMemberRole.UNSPECIFIED])
      expect(await outcomeOf(map(id, role))).toMatch(/^InvalidArgument/);
    const stranger = sessionOf(await (await rig.person()).session());
    expect(await outcomeOf(stranger.setGroupRole({ id }))).toBe("NotFound: group not found");
    expect((await stranger.listGroups({})).total).toBe(0);
    await map(id, ADMIN);
    const row = await rig.auditRow("settings.v1.TeamService/SetGroupRole", id);
    expect(JSON.parse(String(row["after"]))).toMatchObject({ role: "admin", roles: { admin: [ann] } });
    await scim(`DELETE /Groups/${id}`);
    const [deleted] = await rowsIn(
      rig.db.url,
      `SELECT * FROM audit_event WHERE operation = 'scim/DeleteGroup' AND subject = '${id}'`,
    );
    expect(JSON.parse(String(deleted?.["after"]))).toEqual({
      added: [],
      removed: [ann],
      roles: { member: [ann] },
    });
  });

  test("mapping a group and adding a member at the same time always ends with the role of the group", async () => {
    const [ann, bo, cy] = [await user(), await user(), await user()];
    const id = await group(ann);
    const add = (value: string) =>
      scim(`PATCH /Groups/${id}`, patchOf({ op: "add", path: "members", value: [{ value }] }));
    await Promise.all([add(bo), map(id, ADMIN), add(cy)]);
    expect([await roleOf(ann), await roleOf(bo), await roleOf(cy)]).toEqual(["admin", "admin", "admin"]);
  });
});
