import { expect, test } from "vitest";
import { relaxedPolicy } from "../../scripts/dev/page.ts";
import { readDevSettings } from "../../scripts/dev/settings.ts";
import { openService } from "../support/service.ts";

test("npm run dev listens on 127.0.0.1:8080, and takes HOST, PORT and a file of fixtures", () => {
  expect(readDevSettings([], {})).toEqual({ host: "127.0.0.1", port: 8080, fixtures: undefined });
  const settings = readDevSettings(["--fixtures", "demo.json"], {
    HOST: "::1",
    PORT: "8090",
    NODE_ENV: "development",
  });
  expect(settings).toEqual({ host: "::1", port: 8090, fixtures: "demo.json" });
});

test.each([
  [
    { HOST: "0.0.0.0" },
    "HOST: must be 127.0.0.1, ::1 or localhost, because this server is for development only; got 0.0.0.0",
  ],
  [{ HOST: "192.168.1.2" }, "HOST: must be"],
  [{ NODE_ENV: "production" }, "NODE_ENV: must not be production"],
  [{ PORT: "0" }, "PORT: must be 1 to 65535; got 0"],
])("npm run dev refuses %o", (env, message) => {
  expect(() => readDevSettings([], env)).toThrow(message);
});

test("only the page of npm run dev has the relaxed policy: the server's page allows neither inline code nor other texts as code", async () => {
  await using service = await openService({ idle: true });
  const policy = (await fetch(`${service.url}/`)).headers.get("content-security-policy") ?? "";
  expect(policy).toContain(
    "script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; ",
  );
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(relaxedPolicy(policy)).toBe(
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' ws:; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});
