import { array, assert, constantFrom, property, string, subarray } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseScopes, type ScopeName, scopeNames } from "../../../src/core/accounts/caller.ts";

describe("a scope parameter", () => {
  test.each([
    [
      "RFC 6749 3.3: names separated by spaces",
      "create_project create_task",
      ["create_task", "create_project"],
    ],
    ["RFC 6749 3.3: a repeated name counts once", "create_task create_task", ["create_task"]],
    ["RFC 6749 3.3: case counts", "Create_Task", null],
    ["spec/oauth.md 4: refuses a scope that is not allowed", "use_my_browsers", null],
    ["spec/oauth.md 4: refuses an unknown scope next to a known one", "create_task all", null],
    ["a single space is refused", " ", null],
    ["a tab is not a separator", "create_task\tcreate_project", null],
    ["refuses an inherited property name", "constructor", null],
  ])("%s", (_, text, scopes) => {
    expect(parseScopes(text, ["create_task", "create_project"])).toEqual(scopes);
  });

  test("never returns a scope that is not named or not allowed", () => {
    const names = constantFrom<string>(...scopeNames, "", "x", "CREATE_TASK");
    assert(
      property(array(names), string(), subarray([...scopeNames]), (named, noise, allowed: ScopeName[]) => {
        for (const text of [named.join(" "), `${named.join(" ")} ${noise}`]) {
          const scopes = parseScopes(text, allowed);
          for (const scope of scopes ?? [])
            expect(allowed.includes(scope) && text.split(" ").includes(scope)).toBe(true);
          if (text.split(" ").some((name) => name !== "" && !allowed.some((known) => known === name)))
            expect(scopes).toBeNull();
        }
      }),
    );
  });
});
