import { expect, test } from "vitest";
import { openService } from "../support/service.ts";

test("the OAuth endpoints are open to pages of any origin, v2 only to configured origins (spec/decisions.md 36)", async () => {
  await using service = await openService({ idle: true, env: { CORS_ORIGINS: "https://app.example" } });
  const allowed = async (path: string, origin: string) => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const preflight = await fetch(service.url + path, { method: "OPTIONS", headers });
    const reply = await fetch(service.url + path, {
      method: "POST",
      headers: { origin, "content-type": "application/json" },
      body: "{}",
    });
    return [preflight, reply].map((answer) => answer.headers.get("access-control-allow-origin"));
  };
  for (const origin of ["https://app.example", "https://spa.example"])
    expect(await allowed("/oauth/token", origin)).toEqual(["*", "*"]);
  expect(await allowed("/v2/user.me", "https://app.example")).toEqual([
    "https://app.example",
    "https://app.example",
  ]);
  expect(await allowed("/v2/user.me", "https://spa.example")).not.toContain("*");
});
