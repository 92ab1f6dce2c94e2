import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { memberInputOf } from "../../src/protocols/scim/member-input.ts";
import { patchUserInput, userInputOf } from "../../src/protocols/scim/user-input.ts";

const definedMembers = (input: object) =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
const bodyWants = (body: JsonObject) => definedMembers(memberInputOf(userInputOf(body)));
const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
const patchWants = (...Operations: JsonObject[]) =>
  definedMembers(memberInputOf(patchUserInput({ schemas, Operations })));

describe("a PATCH as identity providers send it", () => {
  test.each<[why: string, operations: JsonObject[], input: object]>([
    ["Okta deactivates", [{ op: "replace", value: { active: false } }], { active: false }],
    ["Okta sends the id too", [{ op: "replace", value: { id: "x", active: true } }], { active: true }],
    [
      "Entra ID deactivates with a string",
      [{ op: "Replace", path: "active", value: "False" }],
      { active: false },
    ],
    ["Entra ID activates with a string", [{ op: "Add", path: "active", value: "True" }], { active: true }],
    [
      "a role by its filter",
      [{ op: "Add", path: 'roles[primary eq "True"].value', value: "Admin" }],
      { role: "admin" },
    ],
    [
      "a role by another filter",
      [{ op: "replace", path: "roles[primary eq true].value", value: "guest" }],
      { role: "guest" },
    ],
    [
      "a role as a list",
      [{ op: "add", path: "roles", value: [{ primary: false, value: "super_admin" }] }],
      { role: "super_admin" },
    ],
    ["no role", [{ op: "remove", path: "roles" }], { role: null }],
    ["an empty list of roles", [{ op: "replace", path: "roles", value: [] }], { role: null }],
    ["a part of the name", [{ op: "Add", path: "name.givenName", value: "Ann" }], { name: "Ann" }],
    [
      "both parts of the name, by path-like members",
      [{ op: "Replace", value: { "name.givenName": "Ann", "name.familyName": "van Lee" } }],
      { name: "Ann van Lee" },
    ],
    [
      "the display name takes precedence over its parts",
      [{ op: "replace", value: { name: { givenName: "A" }, displayName: "Ann" } }],
      { name: "Ann" },
    ],
    ["an external id", [{ op: "add", path: "externalId", value: "00u1" }], { externalId: "00u1" }],
    ["no external id", [{ op: "remove", path: "externalId" }], { externalId: null }],
    [
      "an address, by the schema's whole name",
      [{ op: "replace", path: "urn:ietf:params:scim:schemas:core:2.0:User:userName", value: "a@a.example" }],
      { userName: "a@a.example" },
    ],
    [
      "unsupported attributes are ignored",
      [
        { op: "Add", path: 'emails[type eq "work"].value', value: "a@a.example" },
        {
          op: "Add",
          path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
          value: "Sales",
        },
        { op: "Replace", path: "title", value: { __proto__: null, deep: [1] } },
        { op: "remove", path: 'phoneNumbers[type eq "mobile"]' },
      ],
      {},
    ],
    [
      "the last value counts",
      [
        { op: "replace", path: "active", value: false },
        { op: "replace", value: { active: true } },
      ],
      { active: true },
    ],
  ])("%s", (_why, operations, input) => {
    expect(patchWants(...operations)).toEqual(input);
  });

  test.each<[scimType: string, body: JsonObject]>([
    ["invalidSyntax", { schemas }],
    ["invalidSyntax", { schemas, Operations: [] }],
    ["invalidSyntax", { schemas, Operations: {} }],
    ["invalidSyntax", { schemas, Operations: ["x"] }],
    ["invalidSyntax", { schemas, Operations: [{ op: "move", path: "active", value: true }] }],
    ["invalidSyntax", { schemas, Operations: [{ path: "active", value: true }] }],
    ["invalidSyntax", { schemas, Operations: [{ op: "replace", path: "active" }] }],
    ["invalidSyntax", { schemas, Operations: [{ op: "replace", value: true }] }],
    ["invalidSyntax", { schemas, Operations: [{ op: "replace", path: 5, value: true }] }],
    ["invalidSyntax", { schemas: ["x"], Operations: [{ op: "replace", value: { active: true } }] }],
    ["invalidSyntax", { schemas, Operations: Array(101).fill({ op: "replace", value: { active: true } }) }],
    ["noTarget", { schemas, Operations: [{ op: "remove" }] }],
    ["invalidPath", { schemas, Operations: [{ op: "replace", path: "roles[primary", value: "admin" }] }],
    ["invalidPath", { schemas, Operations: [{ op: "replace", path: "a b", value: "admin" }] }],
    ["mutability", { schemas, Operations: [{ op: "remove", path: "userName" }] }],
    ["mutability", { schemas, Operations: [{ op: "remove", path: "active" }] }],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "active", value: "perhaps" }] }],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "roles", value: "king" }] }],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "roles", value: ["admin", "guest"] }] }],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "userName", value: "no address" }] }],
    [
      "invalidValue",
      { schemas, Operations: [{ op: "replace", path: "userName", value: `${"a".repeat(250)}@a.example` }] },
    ],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "externalId", value: "a\0" }] }],
    [
      "invalidValue",
      { schemas, Operations: [{ op: "replace", path: "externalId", value: "a".repeat(256) }] },
    ],
    [
      "invalidValue",
      { schemas, Operations: [{ op: "replace", path: "displayName", value: "a".repeat(256) }] },
    ],
    ["invalidValue", { schemas, Operations: [{ op: "replace", path: "displayName", value: "\ud800" }] }],
    [
      "invalidValue",
      {
        schemas,
        Operations: [
          { op: "replace", path: "name", value: { givenName: "a".repeat(200), familyName: "b".repeat(200) } },
        ],
      },
    ],
  ])("is refused as %s: %j", (scimType, body) => {
    expect(() => memberInputOf(patchUserInput(body))).toThrow(expect.objectContaining({ scimType }));
  });

  test("names of the prototype are ordinary members, and change nothing", () => {
    const value =
      '{"__proto__":{"polluted":1},"constructor.prototype.polluted":1,"toString.polluted":1,"name":{"__proto__":{"polluted":1}}}';
    const body = JSON.parse(
      `{"Operations":[{"op":"add","path":"toString.polluted","value":1},{"op":"add","value":${value}}]}`,
    );
    expect(definedMembers(memberInputOf(patchUserInput(body)))).toEqual({});
    expect("polluted" in {} || "polluted" in Object.prototype.toString).toBe(false);
  });
});

describe("a complete user", () => {
  test("as Okta creates one", () => {
    const body = {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
      userName: "ann@a.example",
      name: { givenName: "Ann", familyName: "Lee" },
      emails: [{ primary: true, value: "ann@a.example", type: "work" }],
      displayName: "Ann Lee",
      locale: "en-US",
      externalId: "00u1",
      groups: [],
      password: "1mz050nq",
      active: true,
    };
    expect(bodyWants(body)).toEqual({
      userName: "ann@a.example",
      name: "Ann Lee",
      externalId: "00u1",
      active: true,
    });
  });

  test("as Entra ID creates one: null is ignored, the role is one of several attributes", () => {
    const body = {
      userName: "ann@a.example",
      active: true,
      displayName: null,
      name: { formatted: "Ann Lee", familyName: "Lee", givenName: null },
      roles: [
        { primary: false, value: "guest" },
        { primary: "True", value: "Admin" },
      ],
    };
    expect(bodyWants(body)).toEqual({
      userName: "ann@a.example",
      active: true,
      name: "Ann Lee",
      role: "admin",
    });
  });

  test("keeps omitted attributes, and removes null and empty ones", () => {
    expect(bodyWants({})).toEqual({});
    expect(bodyWants({ externalId: null, roles: [], active: null, displayName: "" })).toEqual({
      externalId: null,
      role: null,
    });
  });
});
