import { beforeAll, describe, expect, test } from "vitest";
import { groupMembersMax, groupsMax } from "../../src/core/teams/group.ts";
import { settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { type CallScim, patchOf, refusal, scimOf } from "./scim-rig.ts";

const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

// spec/decisions.md 66
describeOnOne("groups of a provider", (database) => {
  const rig = settingsRig(database);
  const base = "https://platform.test/scim/v2";
  let scim: CallScim;
  let ann: string;
  let bo: string;
  let manager: Person;
  const userOf = async (name: string): Promise<string> =>
    (await scim("POST /Users", { userName: `${name}@corp.example` })).body.id;
  const groupOf = async (displayName: string, ...ids: string[]): Promise<string> =>
    (await scim("POST /Groups", { displayName, members: ids.map((value) => ({ value })) })).body.id;
  const membersOf = async (id: string): Promise<string[]> =>
    (await scim(`GET /Groups/${id}`)).body.members.map(({ value }: { value: string }) => value);
  beforeAll(async () => {
    const owner = await rig.person();
    manager = await rig.person({ as: owner, with: owner, kind: "team_user_mgmt" });
    scim = scimOf(rig.service, manager);
    ann = await userOf("ann");
    bo = await userOf("bo");
  });

  test("by Okta: look up, create, push members, rename, remove members, delete", async () => {
    const lookup = '/Groups?filter=displayName eq "Engineers"&startIndex=1&count=100';
    expect((await scim(`GET ${lookup}`)).body).toMatchObject({ totalResults: 0, Resources: [] });
    const made = await scim("POST /Groups", {
      schemas: [groupSchema],
      displayName: "Engineers",
      members: [],
    });
    const { id } = made.body;
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      ...{ schemas: [groupSchema], id, displayName: "Engineers", members: [] },
      meta: {
        ...{
          resourceType: "Group",
          created: expect.stringMatching(/Z$/),
          lastModified: expect.stringMatching(/Z$/),
        },
        ...{ location: `${base}/Groups/${id}`, version: expect.stringMatching(/^W\/"\w+"$/) },
      },
    });
    expect(made.headers.get("location")).toBe(`${base}/Groups/${id}`);

    const add = { op: "add", path: "members", value: [{ value: ann, display: "ann@corp.example" }] };
    expect(await scim(`PATCH /Groups/${id}`, patchOf(add))).toMatchObject({ status: 204, body: null });
    expect((await scim(`GET /Groups/${id}`)).body.members).toEqual([
      { value: ann, display: "ann@corp.example", type: "User", $ref: `${base}/Users/${ann}` },
    ]);
    await scim(
      `PATCH /Groups/${id}`,
      patchOf({ op: "remove", path: `members[value eq "${ann}"]` }, { ...add, value: [{ value: bo }] }),
    );
    expect(await membersOf(id)).toEqual([bo]);
    await scim(
      `PATCH /Groups/${id}`,
      patchOf({ op: "replace", path: "members", value: [{ value: ann }, { value: bo }] }),
    );
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "replace", value: { id, displayName: "Developers" } }));
    expect((await scim('GET /Groups?filter=displayName eq "DEVELOPERS"')).body.Resources).toMatchObject([
      { id, displayName: "Developers", members: [{ value: ann }, { value: bo }] },
    ]);
    const put = { schemas: [groupSchema], id, displayName: "Devs", members: [{ value: bo, display: "bo" }] };
    expect(await scim(`PUT /Groups/${id}`, put)).toMatchObject({
      status: 200,
      body: { displayName: "Devs", members: [{ value: bo }] },
    });
    expect(await scim(`DELETE /Groups/${id}`)).toMatchObject({ status: 204, body: null });
    expect(await scim(`GET /Groups/${id}`)).toMatchObject(refusal(404));
  });

  test("by Entra ID: look up without members, create, change and remove members in its own forms, ask for one member", async () => {
    const extension = "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group";
    const made = await scim("POST /Groups", {
      schemas: [groupSchema, extension],
      ...{ externalId: "8aa1a0c0", displayName: "Sales", meta: { resourceType: "Group" } },
    });
    const { id } = made.body;
    expect(made).toMatchObject({ status: 201, body: { externalId: "8aa1a0c0", members: [] } });
    const found = await scim('GET /Groups?excludedAttributes=members&filter=externalId eq "8aa1a0c0"');
    expect(found.body.Resources).toMatchObject([{ id, displayName: "Sales" }]);
    expect(found.body.Resources[0]).not.toHaveProperty("members");

    const value = (...ids: string[]) => ids.map((one) => ({ $ref: null, value: one }));
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "Add", path: "members", value: value(ann, bo) }));
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "Replace", path: "displayName", value: "Field sales" }));
    const isMember = async (who: string) =>
      (await scim(`GET /Groups?filter=id eq "${id}" and members eq "${who}"`)).body.totalResults;
    expect([await isMember(ann), await isMember(bo)]).toEqual([1, 1]);
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "Remove", path: "members", value: value(ann) }));
    expect([await isMember(ann), await isMember(bo)]).toEqual([0, 1]);
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "Remove", path: "members", value: [] }));
    expect(await membersOf(id)).toEqual([bo]);
    await scim(`PATCH /Groups/${id}`, patchOf({ op: "Remove", path: "members" }));
    expect(await membersOf(id)).toEqual([]);
    const asked = await scim(
      `PATCH /Groups/${id}?attributes=displayName`,
      patchOf({ op: "Add", value: { members: value(ann) } }),
    );
    expect(asked).toMatchObject({ status: 200, body: { id, displayName: "Field sales" } });
    expect(await membersOf(id)).toEqual([ann]);
  });

  test("pages list every group once", async () => {
    const stranger = await rig.person();
    const other = scimOf(
      rig.service,
      await rig.person({ as: stranger, with: stranger, kind: "team_user_mgmt" }),
    );
    const ids: string[] = [];
    for (const displayName of ["a", "b", "c"])
      ids.push((await other("POST /Groups", { displayName })).body.id);
    const pages = await Promise.all(
      [1, 3, 4].map((start) => other(`GET /Groups?startIndex=${start}&count=2`)),
    );
    expect(
      pages.map(({ body }) => [body.totalResults, body.Resources.map(({ id }: { id: string }) => id)]),
    ).toEqual([
      [3, ids.slice(0, 2)],
      [3, ids.slice(2)],
      [3, []],
    ]);
    expect((await other("GET /Groups?count=0")).body).toMatchObject({ totalResults: 3, Resources: [] });
  });

  describe("refuses", () => {
    let id: string;
    beforeAll(async () => {
      id = await groupOf("Taken", ann);
      await scim(`PATCH /Groups/${id}`, patchOf({ op: "add", path: "externalId", value: "taken" }));
    });
    const many = Array.from({ length: groupMembersMax + 1 }, (_, n) => ({ value: `m${n}` }));

    test.each<[at: string, body: unknown, status: number, scimType?: string]>([
      ["POST /Groups", { displayName: "TAKEN" }, 409, "uniqueness"],
      ["POST /Groups", { displayName: "x", externalId: "taken" }, 409, "uniqueness"],
      ["POST /Groups", {}, 400, "invalidValue"],
      ["POST /Groups", { displayName: " " }, 400, "invalidValue"],
      ["POST /Groups", { displayName: "a\nb" }, 400, "invalidValue"],
      ["POST /Groups", { displayName: "x", members: [{ value: "unknown" }] }, 400, "invalidValue"],
      ["POST /Groups", { displayName: "x", members: [{ display: "x" }] }, 400, "invalidValue"],
      ["POST /Groups", { displayName: "x", members: [{ value: "x", type: "Group" }] }, 400, "invalidValue"],
      ["POST /Groups", { displayName: "x", members: many }, 400, "invalidValue"],
      ["POST /Groups", { schemas: ["urn:x"], displayName: "x" }, 400, "invalidSyntax"],
      ["PUT /Groups/{id}", { members: [] }, 400, "invalidValue"],
      ["PATCH /Groups/{id}", patchOf({ op: "remove", path: "displayName" }), 400, "mutability"],
      ["PATCH /Groups/{id}", patchOf({ op: "remove", path: "members[display eq 1]" }), 400, "invalidPath"],
      [
        "PATCH /Groups/{id}",
        patchOf({ op: "add", path: 'members[value eq "x"]', value: "x" }),
        400,
        "invalidPath",
      ],
      ["PATCH /Groups/{id}", patchOf({ op: "add", path: "members", value: [5] }), 400, "invalidValue"],
      ["PATCH /Groups/{id}", patchOf({ op: "add", path: "displayName" }), 400, "invalidSyntax"],
      ["GET /Groups?filter=displayName sw 1", undefined, 400, "invalidFilter"],
    ])("%s with %j: %d", async (at, body, status, scimType) => {
      expect(await scim(at.replace("{id}", id), body)).toMatchObject(refusal(status, scimType));
      expect(await membersOf(id)).toEqual([ann]);
    });

    test("an outdated version, and sends no known version again", async () => {
      const { version } = (await scim(`GET /Groups/${id}`)).body.meta;
      expect((await scim(`GET /Groups/${id}`, undefined, { "If-None-Match": version })).status).toBe(304);
      const rename = (ifMatch: string) =>
        scim(
          `PATCH /Groups/${id}?attributes=id`,
          patchOf({ op: "add", path: "externalId", value: "taken" }),
          { "If-Match": ifMatch },
        );
      expect((await rename(version)).status).toBe(200);
      expect(await rename(version)).toMatchObject(refusal(412));
      expect(await scim(`DELETE /Groups/${id}`, undefined, { "If-Match": version })).toMatchObject(
        refusal(412),
      );
    });

    test("a group beyond the limit of a team", async () => {
      const full = await rig.person();
      const provider = scimOf(
        rig.service,
        await rig.person({ as: full, with: full, kind: "team_user_mgmt" }),
      );
      const row = { spaceId: full.spaceId, externalId: null, role: null, createdAt: 1, updatedAt: 1 };
      await rig.service.store.change(async (tx) => {
        for (let n = 1; n < groupsMax; n += 1)
          await tx.groups.insert({ ...row, id: `${full.spaceId}-${n}`, displayName: `g${n}` });
      });
      expect((await provider("POST /Groups", { displayName: "last" })).status).toBe(201);
      const { body, status } = await provider("POST /Groups", { displayName: "one more" });
      expect([status, body.detail]).toEqual([429, `the team has ${groupsMax} groups: delete one first`]);
    });

    test("a group of another team like an unknown one, and members of another team", async () => {
      const stranger = await rig.person();
      const other = scimOf(
        rig.service,
        await rig.person({ as: stranger, with: stranger, kind: "team_user_mgmt" }),
      );
      for (const one of [id, "unknown"])
        for (const verb of ["GET", "PUT", "PATCH", "DELETE"]) {
          const body =
            { GET: undefined, DELETE: undefined, PUT: { displayName: "x" } }[verb] ??
            patchOf({ op: "remove", path: "members" });
          expect(
            await other(`${verb} /Groups/${one}`, verb === "GET" || verb === "DELETE" ? undefined : body),
          ).toMatchObject(refusal(404));
        }
      expect((await other("GET /Groups")).body.totalResults).toBe(0);
      expect(await other("POST /Groups", { displayName: "x", members: [{ value: ann }] })).toMatchObject(
        refusal(400, "invalidValue"),
      );
    });
  });
});
