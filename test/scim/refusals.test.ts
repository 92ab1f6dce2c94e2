import { beforeAll, describe, expect, test } from "vitest";
import { settingsRig } from "../settings/settings-rig.ts";
import { openService, type Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { sendHttp2 } from "../wires/raw.ts";
import { type CallScim, patchOf, refusal, scimOf, scimWith, userSchema } from "./scim-rig.ts";

describe("SCIM", () => {
  const rig = settingsRig("sqlite");
  let owner: Person;
  let scim: CallScim;
  let ann: string;
  const manager = (of: Person) => rig.person({ as: of, with: of, kind: "team_user_mgmt" });
  beforeAll(async () => {
    owner = await rig.person();
    scim = scimOf(rig.service, await manager(owner));
    ann = (await scim("POST /Users", { userName: "ann@corp.example", displayName: "Ann", externalId: "ann" }))
      .body.id;
  });
  const ownerId = async () => (await scim("GET /Users?count=1")).body.Resources[0].id as string;

  describe("requires a Team User Management key as a Bearer token", () => {
    const addresses = [
      "GET /Users",
      "POST /Users",
      "GET /Users/x",
      "PUT /Users/x",
      "PATCH /Users/x",
      "DELETE /Users/x",
      "GET /Groups",
      "DELETE /Groups/x",
    ];
    const described = [
      "/ServiceProviderConfig",
      "/ResourceTypes",
      "/ResourceTypes/User",
      "/Schemas",
      `/Schemas/${userSchema}`,
    ];

    test.each([...addresses, ...described.map((path) => `GET ${path}`)])("%s", async (at) => {
      const { key } = await manager(owner);
      const bad: Record<string, string>[] = [
        {},
        { Authorization: "Bearer sk-nobody" },
        { Authorization: `Basic ${key}` },
        { "X-API-Key": key },
      ];
      for (const headers of bad) {
        const reply = await scimWith(rig.service, headers)(at);
        expect(reply).toMatchObject(refusal(401));
        expect(reply.headers.get("www-authenticate")).toMatch(/^Bearer/);
        expect(reply.headers.get("content-type")).toMatch(/^application\/scim\+json/);
      }
      const others = [
        owner,
        ...(await Promise.all(
          (["ediscovery", "siem"] as const).map((kind) => rig.person({ as: owner, with: owner, kind })),
        )),
      ];
      for (const other of others) {
        const reply = await scimOf(rig.service, other)(at);
        expect(reply).toMatchObject(refusal(403));
        expect(reply.body.detail).toBe("this operation takes a Team User Management key");
      }
      const two = await scimWith(rig.service, { Authorization: `Bearer ${key}`, "X-API-Key": owner.key })(at);
      expect(two).toMatchObject({ status: 400 });
    });

    test("accepts the Bearer key elsewhere for the same operations as in its own header", async () => {
      const { key } = await manager(owner);
      const reply = await fetch(`${rig.service.url}/v2/team.user.list`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}` },
        body: "{}",
      });
      expect(reply.status).toBe(200);
    });
  });

  test("another team's user is not found, like an unknown id, and is in no list", async () => {
    const stranger = scimOf(rig.service, await manager(await rig.person()));
    for (const id of [ann, "nobody", "a".repeat(300)]) {
      const calls = [`GET /Users/${id}`, `PUT /Users/${id}`, `PATCH /Users/${id}`, `DELETE /Users/${id}`];
      const bodies = [
        undefined,
        { userName: "ann@corp.example" },
        patchOf({ op: "replace", value: { active: false } }),
        undefined,
      ];
      for (const [index, at] of calls.entries())
        expect(await stranger(at, bodies[index])).toMatchObject(refusal(404));
    }
    expect((await stranger('GET /Users?filter=externalId eq "ann"')).body.totalResults).toBe(0);
    expect((await stranger("GET /Users")).body.totalResults).toBe(1);
  });

  test.each([
    ["PUT", { userName: "king@corp.example" }],
    ["PATCH", patchOf({ op: "replace", value: { active: false } })],
    ["PATCH", patchOf({ op: "replace", path: "displayName", value: "King" })],
    ["PATCH", patchOf({ op: "replace", path: "externalId", value: "king" })],
    ["PATCH", patchOf({ op: "replace", path: 'roles[primary eq "True"].value', value: "admin" })],
    ["PATCH", patchOf({ op: "remove", path: "roles" })],
    ["DELETE", undefined],
  ])("the owner accepts no %s that changes anything: %j", async (verb, body) => {
    const id = await ownerId();
    const before = (await scim(`GET /Users/${id}`)).body;
    expect(before.roles).toEqual([{ value: "owner", primary: true }]);
    expect(await scim(`${verb} /Users/${id}`, body)).toMatchObject(refusal(400, "mutability"));
    expect((await scim(`GET /Users/${id}`)).body).toEqual(before);
  });

  test("the owner may be pushed unchanged", async () => {
    const { id, userName } = (await scim(`GET /Users/${await ownerId()}`)).body;
    expect(
      (await scim(`PUT /Users/${id}`, { userName, active: true, roles: [{ value: "owner" }] })).status,
    ).toBe(200);
  });

  test.each<[at: string, body: unknown, status: number, scimType?: string]>([
    ["POST /Users", { userName: "ANN@corp.example" }, 409, "uniqueness"],
    ["POST /Users", { userName: "an@corp.example", externalId: "ann" }, 409, "uniqueness"],
    ["POST /Users", {}, 400, "invalidValue"],
    ["POST /Users", { userName: "ann" }, 400, "invalidValue"],
    ["POST /Users", { userName: 5 }, 400, "invalidValue"],
    ["POST /Users", { userName: "b@corp.example", roles: [{ value: "owner" }] }, 400, "invalidValue"],
    ["POST /Users", { userName: "b@corp.example", displayName: "a\nb" }, 400, "invalidValue"],
    ["POST /Users", { schemas: ["urn:x"], userName: "b@corp.example" }, 400, "invalidSyntax"],
    ["POST /Users", [], 400, "invalidSyntax"],
    ["POST /Users", "{", 400, "invalidSyntax"],
    ["POST /Users", `${"[".repeat(101)}${"]".repeat(101)}`, 400, "invalidSyntax"],
    ["POST /Users", `{"userName":"${"a".repeat(300_000)}"}`, 413],
    ["PUT /Users/{ann}", { displayName: "Ann" }, 400, "invalidValue"],
    ["PUT /Users/{ann}", { userName: "ann@corp.example", roles: ["owner"] }, 400, "invalidValue"],
    ["PATCH /Users/{ann}", { Operations: [] }, 400, "invalidSyntax"],
    ["PATCH /Users/{ann}", patchOf({ op: "remove", path: "userName" }), 400, "mutability"],
    ["PATCH /Users/{ann}", patchOf({ op: "remove" }), 400, "noTarget"],
    ["PATCH /Users/{ann}", patchOf({ op: "add", path: "a b", value: 1 }), 400, "invalidPath"],
    ["GET /Users?filter=title pr", undefined, 400, "invalidFilter"],
    ["GET /Users?filter=", undefined, 400, "invalidFilter"],
    ["GET /Users?count=x", undefined, 400, "invalidValue"],
    ["GET /Users?startIndex=1.5", undefined, 400, "invalidValue"],
    ["GET /Users?startIndex=9999999999", undefined, 400, "invalidValue"],
    ["GET /Users?count=1&count=2", undefined, 400, "invalidValue"],
    ["GET /Users?attributes=userName&excludedAttributes=name", undefined, 400, "invalidValue"],
    ["POST /Bulk", {}, 404],
    ["GET /Schemas/urn:x", undefined, 404],
  ])("%s refuses %j with %d", async (at, body, status, scimType) => {
    expect(await scim(at.replace("{ann}", ann), body)).toMatchObject(refusal(status, scimType));
  });

  test.each([
    ["/Users", "GET, POST"],
    ["/Users/x", "GET, PUT, PATCH, DELETE"],
    ["/Groups", "GET, POST"],
    ["/Groups/x", "GET, PUT, PATCH, DELETE"],
    ["/Schemas", "GET"],
  ])("%s names the methods it accepts", async (path, allow) => {
    for (const verb of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter(
      (one) => !allow.split(", ").includes(one),
    )) {
      const reply = await scim(`${verb} ${path}`);
      expect(reply).toMatchObject(refusal(405));
      expect(reply.headers.get("allow")).toBe(allow);
    }
  });

  test("accepts application/scim+json and application/json, over both HTTP versions, and no other type", async () => {
    const { key } = await manager(owner);
    const body = { active: true };
    for (const type of [
      "application/json",
      "application/scim+json",
      "Application/SCIM+JSON; charset=utf-8",
    ]) {
      expect(
        await scim(`PATCH /Users/${ann}`, patchOf({ op: "replace", value: body }), { "Content-Type": type }),
      ).toMatchObject({
        status: 200,
      });
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx"]) {
      expect(
        await scim(`PATCH /Users/${ann}`, patchOf({ op: "replace", value: body }), { "Content-Type": type }),
      ).toMatchObject(refusal(415));
    }
    const sent = {
      method: "PATCH",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(patchOf({ op: "replace", value: body })),
    };
    expect((await sendHttp2(`${rig.service.url}/scim/v2/Users/${ann}`, sent)).status).toBe(200);
    const plain = await scim(`GET /Users/${ann}`, undefined, { Accept: "application/json" });
    expect(plain.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test("an outdated version is not overwritten, and a known one is not sent again", async () => {
    const { version } = (await scim(`GET /Users/${ann}`)).body.meta;
    const kept = await scim(`GET /Users/${ann}`, undefined, { "If-None-Match": version });
    expect(kept).toMatchObject({ status: 304, body: null });
    const rename = (displayName: string, ifMatch: string) =>
      scim(`PATCH /Users/${ann}`, patchOf({ op: "replace", value: { displayName } }), {
        "If-Match": ifMatch,
      });
    expect((await rename("Anna", version)).status).toBe(200);
    expect(await rename("Anne", version)).toMatchObject(refusal(412));
    expect(
      await scim(`PUT /Users/${ann}`, { userName: "x@corp.example" }, { "If-Match": version }),
    ).toMatchObject(refusal(412));
    expect(await scim(`DELETE /Users/${ann}`, undefined, { "If-Match": version })).toMatchObject(
      refusal(412),
    );
    expect((await scim(`GET /Users/${ann}`)).body.displayName).toBe("Anna");
    expect((await rename("Ann", "*")).status).toBe(200);
  });
});

test("the limits are those of the corresponding operations", async () => {
  const clock = stillClock();
  await using service = await openService({ idle: true, clock, env: { RATE_LIMITS: "default" } });
  const owner = await service.person();
  const manager = await service.person({ as: owner, with: owner, kind: "team_user_mgmt" });
  const scim = scimOf(service, manager);
  for (let n = 0; n < 40; n += 1) expect((await scim("DELETE /Users/nobody")).status).toBe(404);
  const over = await scim("DELETE /Users/nobody");
  expect(over).toMatchObject(refusal(429));
  expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await manager.v2("team.user.remove", { team_user_id: "nobody" })).status).toBe(429);
  expect(
    (await scim("PATCH /Users/nobody", patchOf({ op: "replace", value: { active: true } }))).status,
  ).toBe(404);
  clock.step(60_000);
  expect((await scim("DELETE /Users/nobody")).status).toBe(404);
});
