import { describe, expect, test } from "vitest";
import { readFilter } from "../../src/protocols/scim/users.ts";

describe("filters", () => {
  test.each([
    ['userName eq "ann@a.example"', { email: "ann@a.example" }],
    ['USERNAME EQ "ann@a.example"', { email: "ann@a.example" }],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ann@a.example"', { email: "ann@a.example" }],
    ['emails.value eq "ann@a.example"', { email: "ann@a.example" }],
    ['externalId eq "00u1\\"2"', { externalId: '00u1"2' }],
    ["active eq true", { status: "active" }],
    ['active eq "False"', { status: "inactive" }],
    ['(userName eq "a@a.example") and active eq false', { email: "a@a.example", status: "inactive" }],
  ])("%s is parsed", (text, meant) => {
    expect(readFilter(text)).toEqual(meant);
  });

  test.each([
    "",
    "userName",
    "userName pr",
    'userName co "a"',
    'userName sw "a"',
    'not (userName eq "a")',
    'userName eq "a" or userName eq "b"',
    'userName eq "a" and userName eq "b"',
    'emails[type eq "work"].value eq "a"',
    'name.familyName eq "a"',
    'constructor eq "a"',
    '__proto__ eq "a"',
    'userName eq "a" constructor userName eq "b"',
    "userName eq 5",
    "active eq 5",
    "userName eq null",
    'userName eq "a',
    'userName eq "a\0"',
    'userName eq "a\ud800"',
    `${"(".repeat(600)}userName eq "a"${")".repeat(600)}`,
  ])("%s is refused as invalidFilter", (text) => {
    expect(() => readFilter(text)).toThrow(
      expect.objectContaining({ scimType: "invalidFilter", reason: "invalid_argument" }),
    );
  });

  test("filters with exponential parsing time do not reach the parser", () => {
    expect(() => readFilter(`userName eq "${"\n".repeat(500)}`)).toThrow(
      expect.objectContaining({ scimType: "invalidFilter" }),
    );
  });
});
