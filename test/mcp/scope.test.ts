import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { parseScopes, scopeNames } from "../../src/core/accounts/caller.ts";
import { defaultScopes } from "../../src/core/oauth/app.ts";
import { scopeList } from "../../src/sign-in-pages/consent/consent-page.ts";
import { loadedWith } from "../support/loaded-with.ts";
import { taskRig } from "../support/task-rig.ts";

const rig = taskRig();

test("approve:task is granted only by name: no request without scope asks for it, and the metadata does not list it (spec/oauth.md 2)", async () => {
  const listed = defaultScopes({ scopes: scopeNames, verified: true });
  expect(listed).not.toContain("approve:task");
  expect(parseScopes("create_task approve:task", scopeNames)).toContain("approve:task");
  const metadata = await fetch(`${rig.service.url}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).toMatchObject({ scopes_supported: listed });
});

test("the page of consent lists approve:task first and marks it as dangerous (spec/decisions.md 126)", () => {
  const page = String(scopeList(["create_task", "approve:task"]));
  expect(page.indexOf("approve actions")).toBeLessThan(page.indexOf("create tasks"));
  expect(page).toContain("Dangerous");
});

test("a server loads the protocol with its first request, and not before", () => {
  expect(globSync("src/protocols/mcp/http/*.ts")).toContain("src/protocols/mcp/http/handler.ts");
  const loaded = [...loadedWith("src/serve.ts")];
  expect(loaded).toContain("src/protocols/mcp/http/route.ts");
  expect(loaded.filter((name) => name.startsWith("@modelcontextprotocol/server"))).toEqual([]);
  expect([...loadedWith("src/protocols/mcp/http/handler.ts")]).toContain("@modelcontextprotocol/server");
});
