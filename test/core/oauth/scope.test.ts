import { array, assert, constantFrom, property, string, subarray } from "fast-check";
import { describe, expect, test } from "vitest";
import { type ScopeName, scopeNames, scopesIn } from "../../../src/core/oauth/scope.ts";

describe("a scope parameter", () => {
  test.each([
    ["RFC 6749 3.3: names with blanks between", "create_project create_task", ["create_task", "create_project"]],
    ["RFC 6749 3.3: one named twice is one", "create_task create_task", ["create_task"]],
    ["RFC 6749 3.3: case counts", "Create_Task", null],
    ["oauth.md 4: not one that may not be named", "use_my_browsers", null],
    ["oauth.md 4: not an unknown one beside a known one", "create_task all", null],
    ["a blank names none", " ", null],
    ["tabs are no blanks", "create_task\tcreate_project", null],
    ["no name of an object's own", "constructor", null],
  ])("%s", (_, text, scopes) => {
    expect(scopesIn(text, ["create_task", "create_project"])).toEqual(scopes);
  });

  test("never gives more than it names, nor more than may be named", () => {
    const names = constantFrom<string>(...scopeNames, "", "x", "CREATE_TASK");
    assert(
      property(array(names), string(), subarray([...scopeNames]), (named, noise, among: ScopeName[]) => {
        for (const text of [named.join(" "), `${named.join(" ")} ${noise}`]) {
          const scopes = scopesIn(text, among);
          for (const scope of scopes ?? []) expect(among.includes(scope) && text.split(" ").includes(scope)).toBe(true);
          if (text.split(" ").some((name) => name !== "" && !among.some((known) => known === name))) expect(scopes).toBeNull();
        }
      }),
    );
  });
});
