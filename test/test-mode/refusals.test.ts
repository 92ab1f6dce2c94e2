import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { openTestMode } from "../../src/modules/test-mode/open.ts";
import { serve } from "../../src/serve.ts";
import { loadedWith } from "../support/loaded-with.ts";
import { openService, type Service } from "../support/service.ts";
import { refusalsOf, startTestMode, type TestModeServer } from "./rig.ts";

const folder = mkdtempSync(join(tmpdir(), "test-mode-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file below the folder of this test. */
function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

describe("test mode does not start with", () => {
  mkdirSync(join(folder, "production"));
  const production = "test mode does not start with production: leave out --test";
  const listens = "test mode listens on this machine only, such as 127.0.0.1";
  const address = "in test mode the address must be of this machine, such as http://127.0.0.1:8080";
  const others =
    "a test server reaches no other system and makes its own data: unset it, or leave out --test";
  const chosen =
    "in test mode the folder must not exist, or be one that --test has made: choose another one, or unset it";
  const models = file("models.json", "{}");
  test.each([
    { setting: "NODE_ENV", value: "production", says: production },
    { setting: "HOST", value: "0.0.0.0", says: listens },
    { setting: "HOST", value: "::", says: listens },
    { setting: "HOST", value: "192.168.1.5", with: { BASE_URL: "http://127.0.0.1:1" }, says: listens },
    // A name, also one that names this machine today.
    {
      setting: "HOST",
      value: "platform.example.com",
      with: { BASE_URL: "http://127.0.0.1:1" },
      says: listens,
    },
    { setting: "HOST", value: "127.0.0.1.nip.io", with: { BASE_URL: "http://127.0.0.1:1" }, says: listens },
    {
      setting: "ADMIN_HOST",
      value: "0.0.0.0",
      with: { ADMIN_PORT: "9090", ADMIN_TOKEN_FILE: file("token", "x".repeat(20)) },
      says: listens,
    },
    { setting: "BASE_URL", value: "https://api.example.com", says: address },
    { setting: "BASE_URL", value: "http://localhost.evil.example:8080", says: address },
    { setting: "CONSENT_URL", value: "https://accounts.example.com", says: address },
    { setting: "APP_URL", value: "https://app.example.com", says: address },
    { setting: "DATABASE_URL", value: "postgresql://db/platform", says: others },
    { setting: "DATABASE_URL", value: `file:${folder}/other.db`, says: others },
    { setting: "DATABASE_READ_URL", value: "postgresql://replica/platform", says: others },
    { setting: "DATA_DIR", value: join(folder, "production"), says: chosen },
    { setting: "ENCRYPTION_KEY", value: Buffer.alloc(32, 1).toString("base64"), says: others },
    { setting: "S3_BUCKET", value: "bucket", says: others },
    { setting: "TRUST_PROXY", value: "x-forwarded-for", says: others },
    { setting: "SMTP_URL", value: "smtp://mail.example.com", says: others },
    // Single sign-on, with the groups of its provider.
    { setting: "OIDC_ISSUER", value: "https://sso.example.com", says: others },
    { setting: "MODELS_FILE", value: models, says: others },
    { setting: "A2A_AGENTS_FILE", value: file("agents.json", "{}"), says: others },
    { setting: "TRANSCRIBE_URL", value: "https://speech.example.com", says: others },
    { setting: "SEARCH_URL", value: "https://search.example.com", says: others },
    { setting: "SEARCH_PROVIDER", value: "exa", with: { SEARCH_KEY: "key" }, says: others },
    { setting: "SITES_DOMAIN", value: "example-sites.net", says: others },
    { setting: "CONNECTOR_COMMANDS", value: "npx", says: others },
    { setting: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://collector.example.com:4318", says: others },
    { setting: "TRUST_PROXY", value: "x-forwarded-for", inFile: true, says: others },
    { setting: "HOST", value: "0.0.0.0", inFile: true, says: listens },
    { setting: "MODELS_FILE", value: models, inFile: true, says: others },
  ])("$setting=$value", async ({ setting, value, with: more = {}, inFile = false, says }) => {
    const env = inFile
      ? { CONFIG_FILE: file("settings.json", JSON.stringify({ [setting]: value })) }
      : { [setting]: value };
    expect(await refusalsOf({ ...more, ...env })).toContain(`${setting}: ${says}`);
  });
});

test("no setting and no file turns test mode on", async () => {
  expect(() => loadConfig({ CONFIG_FILE: file("on.json", JSON.stringify({ TEST: "on" })) })).toThrow(
    '"TEST" is not a setting',
  );
  await using service = await openService({ env: { TEST: "on", ATP_TEST: "on", NODE_ENV: "test" } });
  expect((await fetch(`${service.url}/livez`)).headers.get("x-atp-test")).toBeNull();
});

test("a folder that DATA_DIR names is made by the flag, emptied by the next start, and refused by a normal server", async () => {
  const dataDir = join(folder, "chosen");
  const start = () => openTestMode({ PORT: "0", DATA_DIR: dataDir }, {});
  await (await start()).close();
  writeFileSync(join(dataDir, "left"), "");
  await (await start()).close();
  expect(existsSync(join(dataDir, "left"))).toBe(false);
  const normal = (env: Readonly<Record<string, string>>) =>
    serve(loadConfig({ PORT: "0", ...env }), "atp", () => expect.unreachable());
  await expect(normal({ DATA_DIR: dataDir })).rejects.toThrow("was made by atp serve --test");
  await expect(
    normal({ DATA_DIR: join(folder, "normal"), DATABASE_URL: `file:${dataDir}/platform.db` }),
  ).rejects.toThrow("serve --test");
});

describe("a server in test mode", () => {
  let server: TestModeServer;
  beforeAll(async () => {
    server = await startTestMode();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** `fetch` sets `Host` and `Origin` itself. */
  const call = (
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly test: unknown }> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${server.url}/v2/task.list`,
        { method: "POST", headers: { ...server.headers, ...headers } },
        (answer) => {
          answer.resume();
          resolve({ status: answer.statusCode ?? 0, test: answer.headers["x-atp-test"] });
        },
      );
      sent.on("error", reject).end("{}");
    });

  test.each([
    { host: "evil.example" },
    { host: "localhost.evil.example:80" },
    { host: "192.168.1.5:8080" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "null", "sec-fetch-site": "cross-site" },
    { forwarded: "for=203.0.113.9" },
    { "x-forwarded-for": "203.0.113.9" },
    { "x-forwarded-host": "api.example.com" },
    { "x-real-ip": "203.0.113.9" },
    { via: "1.1 proxy" },
  ] as readonly Readonly<Record<string, string>>[])("refuses a request with %j", async (headers) => {
    expect(await call(headers)).toEqual({ status: 403, test: "on" });
  });

  test.each([
    {},
    { host: "localhost:1" },
    { host: "[::1]:1" },
    { origin: "http://localhost:5173" },
    { origin: "null", "sec-fetch-site": "same-origin" },
    { host: "a.localhost" },
  ] as readonly Readonly<Record<string, string>>[])("accepts a request with %j", async (headers) => {
    const { status, test: mode } = await call(headers);
    // A website takes no POST.
    expect([status, mode]).toEqual([headers["host"] === "a.localhost" ? 405 : 200, "on"]);
  });

  test("has no rate limits, and reaches this machine only", async () => {
    const made = await Promise.all(
      Array.from({ length: 15 }, () => server.v2("task.create", { message: { content: "hi" } })),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("a normal server", () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each([
    "test.clock.read",
    "test.clock.advance",
    "test.fault",
    "test.reset",
    "test.space",
  ])("does not know %s", async (name) => {
    const person = await service.person();
    expect(await person.v2(name)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining("unknown operation") } },
    });
    const rpc = await fetch(`${service.url}/testing.v1.TestService/ReadClock`, {
      method: "POST",
      headers: person.headers,
      body: "{}",
    });
    expect(rpc.status).not.toBe(200);
  });

  test("ignores the header of faults", async () => {
    const person = await service.person();
    const reply = await person.v2("task.list", {}, { headers: { "x-atp-fault": "status=503" } });
    expect([reply.status, reply.headers.get("x-atp-test")]).toEqual([200, null]);
  });

  test("does not load the code of test mode, and no document names its operations", () => {
    const loaded = [...loadedWith("cli/server/serve.ts")];
    expect(loaded).toContain("src/start/platform.ts");
    expect(loaded.filter((path) => path.includes("test-mode") || path.includes("testing/v1"))).toEqual([]);
    const documents = [...globSync("api/**/*.{json,yaml}"), ...globSync("docs/reference/**/*.md")];
    expect(documents.length).toBeGreaterThan(10);
    expect(
      documents.filter((path) =>
        /testing\.v1|test\.(clock|fault|reset|space)/.test(readFileSync(path, "utf8")),
      ),
    ).toEqual([]);
  });
});
