import { beforeAll, describe, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { type CallScim, patchOf, scimOf, userSchema } from "./scim-rig.ts";

const service = "team.v2.TeamUserManagementApiV2Service";
const list = (resources: readonly unknown[], facts = {}) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
  ...{
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
    ...facts,
  },
});

describeOnOne("provisioning", (database) => {
  const rig = settingsRig(database);
  let owner: Person;
  let manager: Person;
  let scim: CallScim;
  beforeAll(async () => {
    owner = await rig.person();
    manager = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    scim = scimOf(rig.service, manager);
  });

  const statusOf = async (id: string): Promise<unknown> =>
    (await manager.v2("team.user.detail", { team_user_id: id })).body["user"]?.status;

  test("by Okta: look up, create, read, push, deactivate, reactivate, delete", async () => {
    const lookup = '/Users?filter=userName eq "ann.lee@corp.example"&startIndex=1&count=100';
    expect(await scim(`GET ${lookup}`)).toMatchObject({ status: 200, body: list([]) });

    const pushed = {
      schemas: [userSchema],
      userName: "ann.lee@corp.example",
      name: { givenName: "Ann", familyName: "Lee" },
      emails: [{ primary: true, value: "ann.lee@corp.example", type: "work" }],
      displayName: "Ann Lee",
      locale: "en-US",
      externalId: "00ujl29u0le5T6Aj10h7",
      groups: [],
      password: "1mz050nq",
      active: true,
    };
    const made = await scim("POST /Users", pushed);
    const { id } = made.body;
    const shown = {
      schemas: [userSchema],
      id,
      externalId: "00ujl29u0le5T6Aj10h7",
      userName: "ann.lee@corp.example",
      displayName: "Ann Lee",
      name: { formatted: "Ann Lee", givenName: "Ann", familyName: "Lee" },
      emails: [{ value: "ann.lee@corp.example", type: "work", primary: true }],
      active: true,
      roles: [{ value: "member", primary: true }],
      meta: {
        resourceType: "User",
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        location: `https://platform.test/scim/v2/Users/${id}`,
        version: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      },
    };
    expect(made).toMatchObject({ status: 201, body: shown });
    expect(made.body).toEqual(shown);
    expect(made.headers.get("location")).toBe(shown.meta.location);
    expect(made.headers.get("etag")).toBe(made.body.meta.version);
    expect(made.headers.get("content-type")).toBe("application/scim+json; charset=utf-8");
    expect(JSON.stringify(made.body)).not.toContain(pushed.password);
    expect((await scim(`GET /Users/${id}`)).body).toEqual(made.body);
    expect((await scim(`GET ${lookup}`)).body).toEqual(list([made.body]));

    const renamed = await scim(`PUT /Users/${id}`, {
      ...pushed,
      id,
      displayName: "Ann Lee-Roth",
      meta: { resourceType: "User" },
    });
    expect(renamed).toMatchObject({ status: 200, body: { displayName: "Ann Lee-Roth", active: true } });
    expect(renamed.body.meta.version).not.toBe(made.body.meta.version);
    expect((await scim(`PUT /Users/${id}`, { ...pushed, displayName: "Ann Lee-Roth" })).body).toEqual(
      renamed.body,
    );

    expect(
      await scim(`PATCH /Users/${id}`, patchOf({ op: "replace", value: { active: false } })),
    ).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect(await statusOf(id)).toBe("USER_STATUS_INACTIVE");
    expect((await scim(`GET ${lookup}`)).body.Resources).toMatchObject([{ id, active: false }]);
    expect(
      await scim(`PATCH /Users/${id}`, patchOf({ op: "replace", value: { active: true } })),
    ).toMatchObject({
      status: 200,
      body: { active: true },
    });
    expect(await statusOf(id)).toBe("USER_STATUS_ACTIVE");

    expect(await scim(`DELETE /Users/${id}`)).toMatchObject({ status: 204, body: null });
    expect((await scim(`GET /Users/${id}`)).status).toBe(404);
    expect((await scim(`GET ${lookup}`)).body).toEqual(list([]));
    expect((await scim("POST /Users", pushed)).status).toBe(201);
  });

  test("by Entra ID: probe, look up, create with a role, change in its own forms, disable, enable, delete", async () => {
    const probe = await scim('GET /Users?filter=userName eq "6fd1b2a4-8f8e-4f2e-9f5a-0d3a1c2b9e11"');
    expect(probe).toMatchObject({ status: 200, body: list([]) });
    const lookup = '/Users?filter=externalId eq "bo.roth"';
    expect((await scim(`GET ${lookup}`)).body.totalResults).toBe(0);

    const made = await scim("POST /Users", {
      schemas: [userSchema, "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
      externalId: "bo.roth",
      userName: "Bo.Roth@corp.example",
      active: true,
      displayName: "Bo Roth",
      emails: [{ primary: true, type: "work", value: "Bo.Roth@corp.example" }],
      meta: { resourceType: "User" },
      name: { formatted: "Bo Roth", familyName: "Roth", givenName: "Bo" },
      roles: [{ primary: "True", type: "WindowsAzureActiveDirectoryRole", display: "Admin", value: "Admin" }],
      title: null,
      "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Sales" },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { active: true, displayName: "Bo Roth", roles: [{ value: "admin", primary: true }] },
    });
    const { id } = made.body;
    expect((await scim(`GET ${lookup}`)).body.Resources).toEqual([made.body]);
    expect((await scim('GET /Users?filter=userName eq "BO.ROTH@CORP.EXAMPLE"')).body.Resources).toMatchObject(
      [{ id }],
    );

    const changed = await scim(
      `PATCH /Users/${id}`,
      patchOf(
        { op: "Replace", path: "name.givenName", value: "Boris" },
        { op: "Add", path: 'roles[primary eq "True"].value', value: "guest" },
        { op: "Replace", path: "externalId", value: "boris.roth" },
        { op: "Replace", path: "userName", value: "boris.roth@corp.example" },
        { op: "Add", path: 'emails[type eq "work"].value', value: "boris.roth@corp.example" },
        {
          op: "Add",
          path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
          value: "Tours",
        },
      ),
    );
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id,
        userName: "boris.roth@corp.example",
        externalId: "boris.roth",
        displayName: "Boris Roth",
        name: { formatted: "Boris Roth", givenName: "Boris", familyName: "Roth" },
        roles: [{ value: "guest", primary: true }],
      },
    });
    expect((await scim('GET /Users?filter=userName eq "bo.roth@corp.example"')).body.totalResults).toBe(0);

    const disabled = await scim(
      `PATCH /Users/${id}`,
      patchOf({ op: "Replace", path: "active", value: "False" }),
    );
    expect(disabled).toMatchObject({ status: 200, body: { active: false } });
    expect(await statusOf(id)).toBe("USER_STATUS_INACTIVE");
    const enabled = await scim(
      `PATCH /Users/${id}`,
      patchOf({ op: "Replace", path: "active", value: "True" }),
    );
    expect(enabled).toMatchObject({ status: 200, body: { active: true } });
    expect((await scim(`DELETE /Users/${id}`)).status).toBe(204);
    expect((await scim('GET /Users?filter=externalId eq "boris.roth"')).body).toEqual(list([]));
  });

  test("each operation of a request has a separate audit row with the id of the request", async () => {
    const made = await scim("POST /Users", { userName: "cy@corp.example", displayName: "Cy", active: false });
    const { id } = made.body;
    const row = await rig.auditRow(`${service}/CreateUser`, id);
    expect(row).toMatchObject({
      credential: `key:${manager.keyId}`,
      request_id: made.headers.get("x-request-id"),
      account_id: owner.accountId,
    });
    expect(JSON.parse(String((await rig.auditRow(`${service}/UpdateUser`, id))["after"]))).toMatchObject({
      status: "inactive",
    });
    await scim(`PATCH /Users/${id}`, patchOf({ op: "replace", value: { displayName: "Cyd" } }));
    expect(JSON.parse(String((await rig.auditRow(`${service}/RenameProfile`, id))["after"]))).toMatchObject({
      name: "Cyd",
    });
    await scim(`DELETE /Users/${id}`);
    expect(await rig.auditRow(`${service}/RemoveMember`, id)).toMatchObject({ subject: id });
  });

  test("a partly refused change has no effect", async () => {
    await scim("POST /Users", { userName: "dee@corp.example", externalId: "dee" });
    const { id } = (
      await scim("POST /Users", { userName: "di@corp.example", displayName: "Di", externalId: "di" })
    ).body;
    const before = (await scim(`GET /Users/${id}`)).body;
    const input = { active: false, displayName: "Dee", roles: "admin" };
    for (const taken of [{ userName: "DEE@corp.example" }, { externalId: "dee" }]) {
      const refused = await scim(
        `PATCH /Users/${id}`,
        patchOf({ op: "replace", value: { ...input, ...taken } }),
      );
      expect(refused).toMatchObject({ status: 409, body: { scimType: "uniqueness", status: "409" } });
    }
    expect((await scim(`GET /Users/${id}`)).body).toEqual(before);
  });

  test.each([
    ["Kim", { path: "name.familyName", value: "de Vries" }, "Kim de Vries"],
    ["Kim de Vries", { path: "name.givenName", value: "Kit" }, "Kit de Vries"],
    ["Kim de Vries", { path: "name.familyName", value: "Bos" }, "Kim Bos"],
    ["Kim  de Vries", { path: "title", value: "Dr" }, "Kim  de Vries"],
    [undefined, { path: "name.familyName", value: "Bos" }, "Bos"],
    [undefined, { path: "title", value: "Dr" }, undefined],
    ["Kim", { path: "displayName", value: "" }, "Kim"],
  ])("a user named %j is, after %j, %j", async (displayName, operation, name) => {
    const { id } = (await scim("POST /Users", { userName: "kim@corp.example", displayName })).body;
    const changed = await scim(`PATCH /Users/${id}`, patchOf({ op: "replace", ...operation }));
    await scim(`DELETE /Users/${id}`);
    expect([changed.status, changed.body.displayName]).toEqual([200, name]);
  });

  test.each([
    ["super_admin", "member"],
    ["admin", "member"],
    ["member", "member"],
    ["guest", "guest"],
  ])("a user without the removed role %s is a %s, and a user pushed without one keeps it", async (role, left) => {
    const { id, userName } = (await scim("POST /Users", { userName: "liv@corp.example" })).body;
    await manager.v2("team.user.update", {
      team_user_id: id,
      role: `TEAM_MEMBER_ROLE_${role.toUpperCase()}`,
    });
    const pushed = await scim(`PUT /Users/${id}`, { userName });
    const taken = await scim(`PATCH /Users/${id}`, patchOf({ op: "Remove", path: "roles" }));
    await scim(`DELETE /Users/${id}`);
    expect([pushed.body.roles, taken.body.roles]).toEqual(
      [role, left].map((value) => [{ value, primary: true }]),
    );
  });

  test("one of several concurrent changes with the same version succeeds", async () => {
    const { id, meta } = (await scim("POST /Users", { userName: "ida@corp.example", displayName: "Ida" }))
      .body;
    const rename = (displayName: string) =>
      scim(`PATCH /Users/${id}`, patchOf({ op: "replace", value: { displayName } }), {
        "If-Match": meta.version,
      });
    const names = Array.from({ length: 8 }, (_, n) => `Ida ${n}`);
    const replies = await Promise.all(names.map(rename));
    const [made, ...others] = replies.toSorted((a, b) => a.status - b.status);
    expect([made?.status, ...others.map(({ status }) => status)]).toEqual([200, ...Array(7).fill(412)]);
    expect((await scim(`GET /Users/${id}`)).body).toEqual(made?.body);
  });

  test("one of several concurrent creations with the same address succeeds", async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => scim("POST /Users", { userName: "joy@corp.example" })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    expect(replies.filter(({ status }) => status === 409).map(({ body }) => body.scimType)).toEqual(
      Array(7).fill("uniqueness"),
    );
  });

  describe("a delegated profile", () => {
    let id: string;
    beforeAll(async () => {
      ({ id } = (
        await scim("POST /Users", { userName: "eva@corp.example", externalId: "eva", active: false })
      ).body);
      const holder = (await scim("POST /Users", { userName: "fay@corp.example" })).body;
      const role = "MIGRATED_PROFILE_ROLE_DEACTIVATED";
      expect(
        await manager.v2("team.user.delegate", { team_user_id: id, target_team_user_id: holder.id, role }),
      ).toMatchObject({
        status: 200,
      });
    });

    test("shows its delegate address, keeps its external id, and is found only by these two", async () => {
      const { body } = await scim(`GET /Users/${id}`);
      expect(body).toMatchObject({
        externalId: "eva",
        userName: expect.stringMatching(/^delegate-/),
        active: false,
      });
      const found = async (filter: string) =>
        (await scim(`GET /Users?filter=${filter}`)).body.Resources.map((user: { id: string }) => user.id);
      expect(await found('externalId eq "eva"')).toEqual([id]);
      expect(await found(`userName eq "${body.userName}"`)).toEqual([id]);
      expect(await found('userName eq "eva@corp.example"')).toEqual([]);
    });

    test("treats the previous address, which its provider keeps sending, as no change, and refuses any other one", async () => {
      const before = (await scim(`GET /Users/${id}`)).body;
      const pushed = await scim(`PUT /Users/${id}`, {
        userName: "Eva@corp.example",
        externalId: "eva",
        active: false,
      });
      expect(pushed).toMatchObject({ status: 200, body: before });
      expect(await scim(`PUT /Users/${id}`, { userName: "else@corp.example" })).toMatchObject({
        status: 400,
        body: { scimType: "mutability" },
      });
    });
  });

  test("a deactivated user's keys grant no access until reactivation", async () => {
    const gil = await rig.person({ with: owner });
    const { id } = (await scim("GET /Users?count=200")).body.Resources.at(-1);
    const active = (value: boolean) =>
      scim(`PATCH /Users/${id}`, patchOf({ op: "replace", path: "active", value }));
    const callStatus = async () => (await gil.v2("task.list", {})).status;
    expect(await callStatus()).toBe(200);
    await active(false);
    expect(await callStatus()).toBe(401);
    await active(true);
    expect(await callStatus()).toBe(200);
  });
});
