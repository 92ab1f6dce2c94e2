import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scopeNames } from "../../../src/core/accounts/caller.ts";
import { connectors, myBrowserId } from "../../../src/core/connectors/catalogue.ts";
import { checkSettings, isExpansion, type SettingsInput } from "../../../src/core/oauth/app-rules.ts";

const [one = "", other = ""] = connectors.map(({ id }) => id);
const sound: SettingsInput = {
  name: "Garden",
  description: "",
  allowedOrigins: [],
  redirectUris: ["https://a.example/cb"],
  homepageUrl: "https://a.example",
  webhookUrl: "",
  skillIds: [],
  confidentialOnly: false,
  loopbackAnyPort: false,
  deviceAuthorization: false,
  clientCredentials: false,
  scopeConfig: { scopes: ["create_task"], connectorUids: [] },
};
const check = (part: Partial<SettingsInput>) =>
  checkSettings({ ...sound, ...part }, { plainLoopback: false });
const scoped = (scopes: readonly string[], connectorUids: readonly string[] = []) => ({
  scopeConfig: { scopes, connectorUids },
});

describe("settings of an app", () => {
  test.each<[why: string, part: Partial<SettingsInput>, message: RegExp]>([
    ["a name of blanks", { name: " \u00a0" }, /^name: /],
    ["a name with a line feed", { name: "a\nb" }, /^name: /],
    ["a name with a line separator", { name: "a\u2028b" }, /^name: /],
    ["a name that reverses the text direction", { name: "Acme\u202egnp.exe" }, /^name: /],
    ["a name with a directional isolate", { name: "a\u2066b" }, /^name: /],
    ["a name with a directional mark", { name: "a\u200fb" }, /^name: /],
    ["an overlong name", { name: "x".repeat(101) }, /^name: /],
    ["no redirect URI", { redirectUris: [] }, /^redirect_uris: must have 1 to 20 URIs$/],
    [
      "21 redirect URIs",
      { redirectUris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
      /^redirect_uris: /,
    ],
    [
      "a bad redirect URI",
      { redirectUris: ["https://a.example", "/cb"] },
      /^redirect_uris\[1\]: must be absolute/,
    ],
    ["a homepage of http", { homepageUrl: "http://a.example" }, /^homepage_url: must begin with https/],
    ["a homepage with a code scheme", { homepageUrl: "javascript:alert(1)" }, /^homepage_url: /],
    ["a homepage with a user", { homepageUrl: "https://a@b.example" }, /^homepage_url: /],
    ["a homepage without a host", { homepageUrl: "https:///" }, /^homepage_url: /],
    [
      "a webhook of http",
      { webhookUrl: "http://a.example" },
      /^webhook_url: is not a valid webhook URL: must begin with https/,
    ],
    ["a webhook of http on localhost", { webhookUrl: "http://127.0.0.1" }, /must begin with https:\/\/$/],
    ["a webhook with a user", { webhookUrl: "https://a:b@b.example" }, /^webhook_url: /],
    [
      "an unknown scope",
      scoped(["create_task", "tasks:read"]),
      /^scope_config\.scopes\[1\]: is not a scope$/,
    ],
    ["a scope in capitals", scoped(["CREATE_TASK"]), /^scope_config\.scopes\[0\]: /],
    [
      "an unknown connector",
      scoped(["use_connectors"], [one, "x"]),
      /^scope_config\.connector_uids\[1\]: is not a connector$/,
    ],
    [
      "a connector in capitals",
      scoped(["use_connectors"], [one.toUpperCase()]),
      /^scope_config\.connector_uids\[0\]: /,
    ],
    [
      "My Browser among the connectors",
      scoped(["use_connectors"], [myBrowserId]),
      /^scope_config\.connector_uids\[0\]: is My Browser/,
    ],
    [
      "use_connectors without connectors",
      scoped(["use_connectors"]),
      /^scope_config\.connector_uids: must not be empty/,
    ],
    [
      "connectors without use_connectors",
      scoped(["create_task"], [one]),
      /^scope_config\.connector_uids: needs the scope/,
    ],
  ])("refuse %s", (_why, part, message) => {
    expect(() => check(part)).toThrow(
      expect.objectContaining({
        name: "Failure",
        reason: "invalid_argument",
        message: expect.stringMatching(message),
      }),
    );
  });

  test("accept valid values, and drop duplicates", () => {
    const part = {
      name: "Gärtner 🌱 for مصر",
      redirectUris: ["https://a.example/cb", "https://a.example/cb", "myapp://cb"],
      homepageUrl: "http://localhost:3000",
      webhookUrl: "https://a.example/hook",
      skillIds: ["s", "s"],
      ...scoped(["use_connectors", "use_my_browsers", "use_connectors"], [one, other, one]),
    };
    expect(check(part)).toMatchObject({
      name: part.name,
      redirectUris: ["https://a.example/cb", "myapp://cb"],
      webhookUrl: "https://a.example/hook",
      skillIds: ["s"],
      scopes: ["use_connectors", "use_my_browsers"],
      connectorUids: [one, other],
    });
    expect(check({ homepageUrl: "", webhookUrl: "" })).toMatchObject({ homepageUrl: "", webhookUrl: null });
  });

  test("are expanded exactly if they contain a scope or connector that was missing before", () => {
    const config = fc.record({
      scopes: fc.subarray([...scopeNames]),
      connectorUids: fc.subarray([one, other]),
    });
    fc.assert(
      fc.property(config, config, (before, after) => {
        const known = new Set([...before.scopes, ...before.connectorUids]);
        expect(isExpansion(before, after)).toBe(
          [...after.scopes, ...after.connectorUids].some((name) => !known.has(name)),
        );
      }),
      { seed: 3 },
    );
  });
});
