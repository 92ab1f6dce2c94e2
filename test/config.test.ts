import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { configurationPage } from "../scripts/configuration-page.ts";
import { type Config, ConfigError, loadConfig } from "../src/config/config.ts";
import type { Variable } from "../src/config/variable.ts";
import { variableGroups } from "../src/config/variables.ts";

const entries: [string, Variable<unknown>][] = Object.values(variableGroups).flatMap((group) =>
  Object.entries<Variable<unknown>>(group),
);
const postgres = {
  DATABASE_URL: "postgresql://u:pass-word@db/p",
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
};

function problemsOf(env: Record<string, string>): ConfigError {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("SITES_DOMAIN", () => {
  test.each([
    [{}, "localhost"],
    [{ BASE_URL: "http://localhost:8080" }, "localhost"],
    [{ BASE_URL: "http://api.localhost:8080" }, "localhost"],
    [{ BASE_URL: "https://api.example.com", SITES_DOMAIN: "Example-Sites.net" }, "example-sites.net"],
    // A public suffix: each name below it is a separate site.
    [{ BASE_URL: "https://accounts.github.io", SITES_DOMAIN: "github.io" }, "github.io"],
    [{ BASE_URL: "https://api.example.co.uk", SITES_DOMAIN: "sites.co.uk" }, "sites.co.uk"],
  ])("%j serves websites below %s", (env, sitesDomain) => {
    expect(loadConfig(env)).toMatchObject({ sitesDomain });
  });

  test.each([
    { CONSENT_URL: "https://accounts.example.com", SITES_DOMAIN: "sites.example.com" },
    { CONSENT_URL: "https://example.com", SITES_DOMAIN: "example.com" },
    { CONSENT_URL: "https://example.com:8443", SITES_DOMAIN: "sites.example.com" },
    { CONSENT_URL: "https://EXAMPLE.com", SITES_DOMAIN: "a.b.Example.COM" },
    { CONSENT_URL: "https://a.example.co.uk", SITES_DOMAIN: "b.example.co.uk" },
    { CONSENT_URL: "http://app.web.localhost:8080", SITES_DOMAIN: "web.localhost" },
  ])("stops the start when it is on the same site as CONSENT_URL: %j", (env) => {
    expect(problemsOf({ BASE_URL: "http://127.0.0.1:8080", ...env }).message).toContain("SITES_DOMAIN");
  });
});

describe("RATE_LIMITS by default", () => {
  test.each([
    {},
    {
      HOST: "::1",
      BASE_URL: "http://localhost:8080",
      CONSENT_URL: "http://[::1]:8080",
      APP_URL: "http://127.0.0.1:1",
    },
    { ADMIN_PORT: "9090" },
    { AGENT_PROFILES: "manus-1.6=remote;labels=gpu,manus-1.6-max=offline" },
    { RATE_LIMITS: "auto" },
  ])("has no limits while only this machine uses the server: %j", (env) => {
    expect(loadConfig(env)).toMatchObject({ rateFactor: null });
  });

  test.each([
    { HOST: "0.0.0.0" },
    { HOST: "192.0.2.1", BASE_URL: "http://127.0.0.1:8080" },
    { ADMIN_PORT: "9090", ADMIN_HOST: "::" },
    { BASE_URL: "https://api.example.com" },
    { CONSENT_URL: "https://id.example.com" },
    { APP_URL: "https://app.example.com" },
    { SITES_DOMAIN: "sites.example" },
    { TRUST_PROXY: "x-forwarded-for" },
    { RATE_LIMITS: "default" },
  ])("has the limits of the hosted API otherwise: %j", (env) => {
    expect(loadConfig({ BASE_URL: "http://127.0.0.1:8080", ...env })).toMatchObject({ rateFactor: 1 });
  });
});

describe("an empty environment", () => {
  test("serves only this machine, on SQLite in ./data", () => {
    expect(loadConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      admin: null,
      baseUrl: "http://127.0.0.1:8080",
      consentUrl: "http://127.0.0.1:8080",
      appUrl: "http://127.0.0.1:8080",
      dataDir: resolve("data"),
      database: "sqlite",
      databaseUrl: `file:${resolve("data/platform.db")}`,
      encryptionKey: null,
      previousEncryptionKey: null,
      bucket: null,
      role: "all",
    });
  });

  test("trusts nothing and allows no private address", () => {
    expect(loadConfig({})).toMatchObject({
      trustProxy: null,
      corsOrigins: [],
      webhookAllow: [],
      fetchAllow: [],
      connectorAllow: [],
      connectorCommands: {},
    });
  });

  test("lets models that operators set be on this machine only while it listens there alone", () => {
    expect(loadConfig({}).modelAllow).toEqual([{ kind: "loopback" }]);
    const open = { HOST: "0.0.0.0", BASE_URL: "https://platform.test" };
    expect(loadConfig(open).modelAllow).toEqual([]);
  });

  test("has the limits of the specification", () => {
    expect(loadConfig({})).toMatchObject({
      rateFactor: null,
      watchLimit: 100,
      waitSeconds: 50,
      bodyLimit: 33_554_432,
      refreshReplaySeconds: 0,
      runConcurrency: 1000,
      noticeSeconds: 0,
      drainSeconds: 25,
      deletedTaskDays: 0,
      siemPayloads: false,
      webhookLogDays: 30,
    });
  });

  test("equals one with empty variables", () => {
    expect(loadConfig(Object.fromEntries(entries.map(([name]) => [name, ""])))).toEqual(loadConfig({}));
  });

  test("may contain other variables", () => {
    expect(loadConfig({ NO_VARIABLE_OF_OURS: "x" })).toEqual(loadConfig({}));
  });
});

describe("a good value", () => {
  const good: [Record<string, string>, Partial<Config>][] = [
    [
      { HOST: "0.0.0.0", PORT: "1" },
      { host: "0.0.0.0", baseUrl: "http://127.0.0.1:1" },
    ],
    [{ HOST: "::1" }, { host: "::1", baseUrl: "http://[::1]:8080" }],
    [{ HOST: "localhost" }, { baseUrl: "http://localhost:8080" }],
    [{ PORT: "0" }, { port: 0 }],
    [
      { BASE_URL: "https://api.example.com/" },
      {
        baseUrl: "https://api.example.com",
        consentUrl: "https://api.example.com",
        appUrl: "https://api.example.com",
      },
    ],
    [{ BASE_URL: "https://example.com/agents/" }, { baseUrl: "https://example.com/agents" }],
    [{ BASE_URL: "http://localhost:8080" }, { baseUrl: "http://localhost:8080" }],
    [{ BASE_URL: "http://api.localhost" }, { baseUrl: "http://api.localhost" }],
    [{ BASE_URL: "http://127.1.2.3:1" }, { baseUrl: "http://127.1.2.3:1" }],
    [
      { BASE_URL: "http://[::1]:1", CONSENT_URL: "http://localhost" },
      { baseUrl: "http://[::1]:1", consentUrl: "http://localhost" },
    ],
    [{ APP_URL: "http://app.example.com" }, { appUrl: "http://app.example.com" }],
    [{}, { delegateDomain: "localhost" }],
    [{ BASE_URL: "https://[2001:db8::1]:8443" }, { delegateDomain: "localhost" }],
    [{ BASE_URL: "https://api.example.com/x" }, { delegateDomain: "api.example.com" }],
    [{ DELEGATE_DOMAIN: "People.Example.com" }, { delegateDomain: "people.example.com" }],
    [
      { CONSENT_URL: "https://id.example.com" },
      { baseUrl: "http://127.0.0.1:8080", appUrl: "https://id.example.com" },
    ],
    [{ TRUST_PROXY: "X-Forwarded-For" }, { trustProxy: "x-forwarded-for" }],
    [
      { BASE_URL: "https://a.example", SECURITY_CONTACT: "mailto:s@a.example" },
      { hsts: true, securityContact: "mailto:s@a.example" },
    ],
    [
      { BASE_URL: "https://a.example", HSTS: "off" },
      { hsts: false, securityContact: null },
    ],
    [
      { CORS_ORIGINS: "https://a.example, http://localhost:5173" },
      { corsOrigins: ["https://a.example", "http://localhost:5173"] },
    ],
    [{ DATA_DIR: "/var/lib/x" }, { dataDir: "/var/lib/x", databaseUrl: "file:/var/lib/x/platform.db" }],
    [{ DATABASE_URL: "file:other.db" }, { database: "sqlite", databaseUrl: `file:${resolve("other.db")}` }],
    [{ ...postgres }, { databaseUrl: postgres.DATABASE_URL, poolerUrl: null }],
    [
      { ...postgres, DATABASE_DIRECT_URL: "postgresql://u@direct/p" },
      { database: "postgresql", databaseUrl: "postgresql://u@direct/p", poolerUrl: postgres.DATABASE_URL },
    ],
    [
      { ...postgres, ROLE: "worker", DATA_DIR_SHARED: "true" },
      { database: "postgresql", role: "worker", isDataDirShared: true },
    ],
    [
      { ...postgres, ROLE: "api", S3_BUCKET: "files" },
      { role: "api", isDataDirShared: false },
    ],
    [{ CONSENT_URL: "https://id.example.com" }, { isAddressGuessed: false }],
    [{ BASE_URL: "https://api.example.com" }, { isAddressGuessed: false }],
    [{ PORT: "80" }, { isAddressGuessed: true }],
    [{ OWNER_EMAIL: "Ann@Example.com" }, { ownerEmail: "ann@example.com" }],
    [{ RATE_LIMITS: "off" }, { rateFactor: null }],
    [{ RATE_LIMITS: "0.5" }, { rateFactor: 0.5 }],
    [{ CLI_SIGN_IN: "off" }, { cliSignIn: false }],
    [{ OAUTH_REFRESH_REPLAY_SECONDS: "60" }, { refreshReplaySeconds: 60 }],
    [
      { S3_BUCKET: "files" },
      {
        bucket: {
          name: "files",
          endpoint: null,
          region: "us-east-1",
          credentials: null,
          prefix: "",
          pathStyle: false,
          redirect: false,
        },
      },
    ],
    [
      {
        S3_BUCKET: "files",
        S3_ENDPOINT: "http://127.0.0.1:9000/",
        S3_PREFIX: "a/b",
        S3_REDIRECT: "on",
        S3_ACCESS_KEY_ID: "id",
        S3_SECRET_ACCESS_KEY: "s",
      },
      {
        bucket: {
          ...{
            name: "files",
            endpoint: "http://127.0.0.1:9000",
            region: "us-east-1",
            prefix: "a/b/",
            pathStyle: true,
            redirect: true,
          },
          credentials: { accessKeyId: "id", secretAccessKey: "s" },
        },
      },
    ],
    [{ BODY_LIMIT: "1KiB" }, { bodyLimit: 1024 }],
    [{ BODY_LIMIT: "65536" }, { bodyLimit: 65_536 }],
    [
      { BODY_LIMIT: "64MiB", BODY_MEMORY: "128MiB" },
      { bodyLimit: 64 * 1024 ** 2, bodyMemory: 128 * 1024 ** 2 },
    ],
    [
      { MAX_CONNECTIONS: "20000", MAX_CONNECTIONS_PER_ADDRESS: "1000" },
      { maxConnections: 20_000, maxConnectionsPerAddress: 1000 },
    ],
    [{ FILE_LIMIT: "64MiB" }, { fileLimit: 64 * 1024 ** 2 }],
    [{ FILE_QUOTA: "50GiB" }, { fileQuota: 50 * 1024 ** 3 }],
    [
      { PRICES: '{"a":{"input":0.1,"cached_input":0.01,"output":0.525,"tool_call":0.05,"turn":1},"b.2":{}}' },
      {
        prices: {
          a: {
            inputToken: 100,
            cachedInputToken: 10,
            cacheWriteToken: 100,
            outputToken: 525,
            toolCall: 50_000,
            turn: 1_000_000,
          },
          "b.2": {
            inputToken: 0,
            cachedInputToken: 0,
            cacheWriteToken: 0,
            outputToken: 0,
            toolCall: 0,
            turn: 0,
          },
        },
      },
    ],
    [{ CREDITS: "5" }, { credits: 5 }],
    [{ BUDGET_STEP: "0" }, { budgetStep: 0 }],
    [
      { SANDBOX_COMMAND: " /bin/box  -w {workspace} sh " },
      { sandbox: { command: ["/bin/box", "-w", "{workspace}", "sh"], user: null } },
    ],
    [
      { AGENT_PROFILES: "manus-1.6=offline, manus-1.6-max=remote" },
      { agentProfiles: { "manus-1.6": "offline", "manus-1.6-max": "remote" }, profileLabels: {} },
    ],
    [
      { AGENT_PROFILES: "train=remote;labels=gpu+eu.west+gpu,research=offline" },
      {
        agentProfiles: { train: "remote", research: "offline" },
        profileLabels: { train: ["eu.west", "gpu"] },
      },
    ],
    [
      { WEBHOOK_ALLOW: "loopback,10.1.0.0/16:8443,fd00::/8" },
      {
        webhookAllow: [
          { kind: "loopback" },
          { kind: "range", family: "ipv4", network: "10.1.0.0", prefix: 16, port: 8443 },
          { kind: "range", family: "ipv6", network: "fd00::", prefix: 8, port: 443 },
        ],
      },
    ],
  ];
  test.each(good)("%j is read", (env, expected) => {
    expect(loadConfig(env)).toMatchObject(expected);
  });

  // The examples of the encryption keys are placeholders, and the files of the others do not exist.
  test.each(
    entries.filter(
      ([name]) =>
        ![
          "ENCRYPTION_KEY",
          "ENCRYPTION_KEY_PREVIOUS",
          "MODELS_FILE",
          "A2A_AGENTS_FILE",
          "CONFIG_FILE",
        ].includes(name),
    ),
  )("of %s is its own example", (name, { example }) => {
    expect(() =>
      loadConfig({ ...postgres, ...company, DATA_DIR_SHARED: "true", [name]: example }),
    ).not.toThrow();
  });
});

/** Variables that others require. */
const company = {
  A2A_PROFILES: "manus-1.6",
  SMTP_URL: "smtp://mail.example.com",
  OIDC_ISSUER: "https://login.example.com",
  OIDC_GROUPS_CLAIM: "groups",
  OIDC_CLIENT_ID: "platform",
  OIDC_CLIENT_SECRET: "sesame",
  MAIL_FROM: "platform@example.com",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
  SEARCH_KEY: "sesame",
  S3_ACCESS_KEY_ID: "platform",
  S3_SECRET_ACCESS_KEY: "sesame",
  SANDBOX_UID: "2000",
  SANDBOX_GID: "2000",
};

describe("a variable that requires another", () => {
  test.each([
    { env: { OIDC_ISSUER: "https://login.example.com" }, missing: ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"] },
    {
      env: { OIDC_ISSUER: "https://login.example.com", OIDC_CLIENT_ID: "platform" },
      missing: ["OIDC_CLIENT_SECRET"],
    },
    { env: { OIDC_GROUPS_CLAIM: "groups" }, missing: ["OIDC_ISSUER"] },
    { env: { OIDC_GROUPS_SCOPE: "groups" }, missing: ["OIDC_GROUPS_CLAIM"] },
    { env: { SMTP_URL: "smtp://mail.example.com" }, missing: ["MAIL_FROM"] },
    { env: { SIGN_IN_LINKS: "on" }, missing: ["SMTP_URL"] },
    { env: { A2A: "on" }, missing: ["A2A_PROFILES"] },
    { env: { SANDBOX_UID: "2000" }, missing: ["SANDBOX_GID"] },
    { env: { SANDBOX_GID: "2000" }, missing: ["SANDBOX_UID"] },
    { env: { S3_ACCESS_KEY_ID: "platform" }, missing: ["S3_SECRET_ACCESS_KEY"] },
    { env: { S3_SECRET_ACCESS_KEY: "sesame" }, missing: ["S3_ACCESS_KEY_ID"] },
  ])("is reported as missing with $env", ({ env, missing }) => {
    expect(problemsOf(env).problems.map(({ variable }) => variable)).toEqual(missing);
  });

  test("requires TLS for a remote mail server, and not for a local one", () => {
    for (const [url, demandTls] of [
      ["smtp://mail.example.com", true],
      ["smtp://127.0.0.1:25", false],
      ["smtp://localhost", false],
    ] as const) {
      expect(loadConfig({ ...company, SMTP_URL: url }).mail).toMatchObject({ demandTls });
    }
  });
});

const range = [
  "10.0.0.0",
  "10.0.0.0/33",
  "fd00::/129",
  "10.0.0.0/8:0",
  "10.0.0.0/8:70000",
  "example.com/8",
  "/8",
  "loopback,",
  "Loopback",
];
const url = [
  "example.com",
  "ftp://example.com",
  "https://",
  "https://a@example.com",
  "https://example.com/?q",
  "https://example.com/#f",
  "https:example.com",
];
/** http is allowed for this machine only. */
const clear = [
  "http://example.com",
  "http://10.0.0.1:8080",
  "http://localhost.example.com",
  "http://127.0.0.1.example.com",
  "http://[::2]",
  "http://128.0.0.1",
];
const bad: Record<string, readonly string[]> = {
  OIDC_ISSUER: [
    "http://login.example.com",
    "login.example.com",
    "https://a:b@login.example.com",
    "https://login.example.com?x",
  ],
  OIDC_CLIENT_ID: ["a\nb", "x".repeat(257)],
  OIDC_CLIENT_SECRET: ["a\nb"],
  OIDC_DOMAINS: ["*", "@example.com", "example.com,"],
  OIDC_GROUPS_CLAIM: ["my groups", "x".repeat(129)],
  OIDC_GROUPS_SCOPE: ["groups profile", '"groups"', "x".repeat(129)],
  OIDC_LABEL: ["a\nb", "x".repeat(61)],
  SMTP_URL: ["mail.example.com", "https://mail.example.com", "smtp://"],
  MAIL_FROM: ["nobody", "a@b, c@d", "X <nobody>"],
  HOST: ["not a host", "1.2.3", "http://x", "-a"],
  PORT: ["-1", "65536", "80.5", "0x50", " 80", "http"],
  ADMIN_PORT: ["0", "8080", "x"],
  ADMIN_HOST: ["not a host", "1.2.3"],
  ADMIN_TOKEN_FILE: ["a\0b"],
  BASE_URL: [...url, ...clear],
  CONSENT_URL: [...url, ...clear],
  APP_URL: url,
  TRUST_PROXY: ["x-forwarded-for, x-real-ip", "x forwarded", "1"],
  CORS_ORIGINS: [
    "*",
    "https://example.com/",
    "https://example.com/path",
    "example.com",
    "https://a.example,",
    "https://Example.com",
    "null",
  ],
  DATA_DIR: ["a\0b"],
  DATA_DIR_SHARED: ["on", "1", "TRUE", "yes"],
  DATABASE_URL: [
    "mysql://db/x",
    "file:",
    "file::memory:",
    "file:data/",
    "./platform.db",
    "postgresql://",
    "postgresql://a b",
  ],
  DATABASE_READ_URL: ["file:platform.db", "mysql://db/x", "postgresql://a b", "db.example.com"],
  DATABASE_DIRECT_URL: ["file:platform.db", "mysql://db/x", "postgresql://a b", "db.example.com"],
  ENCRYPTION_KEY: [
    "short",
    "a".repeat(44),
    `${"A".repeat(42)}B=`,
    `${"-".repeat(43)}=`,
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(32).toString("hex"),
  ],
  ENCRYPTION_KEY_PREVIOUS: [
    "short",
    "a".repeat(44),
    `${"A".repeat(42)}B=`,
    `${"-".repeat(43)}=`,
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(32).toString("hex"),
  ],
  DELEGATE_DOMAIN: [
    "@example.com",
    "a b",
    "example..com",
    "-a.com",
    `${"a.".repeat(100)}com`,
    "https://example.com",
  ],
  SITES_DOMAIN: [
    "https://sites.example",
    "sites.example:8443",
    "a b",
    "-a.com",
    "127.0.0.1",
    "a..com",
    ".com",
  ],
  TASK_DAYS: ["-1", "1.5", "36501"],
  EVENT_DAYS: ["-1", "1.5", "36501"],
  VERBOSE_EVENT_DAYS: ["-1", "1.5", "36501"],
  ARCHIVE_EVENT_DAYS: ["-1", "1.5", "36501"],
  AUDIT_DAYS: ["29", "1", "-1", "36501"],
  USAGE_DAYS: ["61", "1", "-1", "36501"],
  DELETED_TASK_DAYS: ["-1", "1.5", "36501", "forever"],
  SIEM_PAYLOADS: ["ON", "yes", "true", "1"],
  WEBHOOK_LOG_DAYS: ["0", "1.5", "36501", "forever"],
  OWNER_EMAIL: ["ann", "@example.com", "ann@", "a b@example.com", "a@b@c", "<ann@example.com>"],
  RATE_LIMITS: ["0", "0.0", "-1", "on", "1e3", "1,5"],
  WATCH_LIMIT: ["0", "x", "1.5"],
  WAIT_SECONDS: ["0", "61", "x", "1.5"],
  RESPONSES_STATUS: ["OpenAI", "sdk", "1"],
  CLI_SIGN_IN: ["OFF", "no", "0"],
  SIGN_IN_LINKS: ["ON", "yes", "1"],
  OAUTH_REGISTRATION: ["OFF", "no", "0"],
  OAUTH_REFRESH_REPLAY_SECONDS: ["-1", "61", "x", "1.5"],
  BODY_LIMIT: ["0", "32MB", "32 MiB", "2GiB", "1023", "-1"],
  BODY_MEMORY: ["0", "256MB", "2047", "1025GiB", "-1"],
  MAX_CONNECTIONS: ["0", "1000001", "many"],
  MAX_CONNECTIONS_PER_ADDRESS: ["0", "1000001", "off"],
  FILE_LIMIT: ["0", "512MB", "1023", "101GiB", "-1"],
  FILE_QUOTA: ["0", "10GB", "1023", "100001GiB", "x"],
  AGENT_PROFILES: [
    "manus-1.6",
    "manus-1.6=model-that-is-none",
    "a=offline,a=offline",
    "a=offline,",
    "=offline",
    "A=offline",
    "a=offline;labels=gpu",
    "a=remote;labels=",
    "a=remote;labels=A",
    "a=remote;zone=eu",
    "a=a2a:",
    "a=a2a:other;labels=gpu",
  ],
  MODELS_FILE: ["a\0b"],
  A2A_AGENTS_FILE: ["a\0b"],
  CONFIG_FILE: ["atp.yaml", "a\0.toml"],
  SANDBOX_COMMAND: ["bwrap {workspace}", "/bin/sh -c", "/bin/box {folder}", "/bin/b\0 {workspace}"],
  S3_BUCKET: ["ab", "Files", "a_b", "a/b", "-files", "x".repeat(64)],
  S3_ENDPOINT: ["s3.example.com", "ftp://s3.example.com", "https://user@s3.example.com"],
  S3_REGION: ["eu central", "x".repeat(65)],
  S3_ACCESS_KEY_ID: ["a b", "x".repeat(257)],
  S3_SECRET_ACCESS_KEY: ["a b", "x\n"],
  S3_PREFIX: ["/a", "a//b", "..", "a/../b", "./a", "ä", "x".repeat(201)],
  S3_PATH_STYLE: ["true", "ON"],
  S3_REDIRECT: ["yes", "1"],
  PRICES: [
    "1",
    "{",
    "[]",
    '{"A B":{}}',
    '{"a":{"input":-1}}',
    '{"a":{"input":101}}',
    '{"a":{"input":0.0001}}',
    '{"a":{"tool_call":"1"}}',
    '{"a":{"turn":1000001}}',
    '{"a":{"page":1}}',
  ],
  BUDGET_STEP: ["-1", "1000001", "1.5"],
  CREDITS: ["-1", "2000000001", "1.5"],
  RUN_CONCURRENCY: ["0", "many"],
  QUEUE_DEPTH: ["0", "x"],
  WEBHOOK_ALLOW: range,
  FETCH_ALLOW: range,
  CONNECTOR_ALLOW: range,
  CLIENT_ALLOW: range,
  MODEL_ALLOW: range,
  CONNECTOR_COMMANDS: ["files", "files=mcp", "Files=/bin/x", "a=/x,a=/y", "=/x"],
  HSTS: ["ON", "yes", "max-age=1"],
  SECURITY_CONTACT: ["security@example.com", "http://example.com/report", "mailto:", "https://a b"],
  CONSOLE: ["ON", "yes", "1"],
  A2A: ["ON", "yes", "1"],
  A2A_PROFILES: [",", "manus-1.6,manus-1.6", "manus-1.6,"],
  PDF_RENDERER: ["chromium", "./chromium", "/usr/bin/a\0b"],
  PDF_RENDERER_UID: ["0", "-1", "4294967295", "nobody"],
  SANDBOX_UID: ["0", "-1", "4294967295", "nobody"],
  SANDBOX_GID: ["0", "nogroup"],
  TRANSCRIBE_URL: [
    "127.0.0.1:8178",
    "ftp://example.com",
    "https://a@example.com",
    "https://example.com/?q",
    "https://example.com/#f",
  ],
  TRANSCRIBE_MODEL: ["a b", "x".repeat(201)],
  TRANSCRIBE_KEY: ["a b", "x".repeat(4097)],
  TRANSCRIBE_PRICE: ["-1", "100001", "0.0001", "free"],
  SEARCH_URL: ["127.0.0.1:8888", "ftp://example.com", "https://a@example.com", "https://example.com/?q"],
  SEARCH_PROVIDER: ["google", "Exa", "exa "],
  SEARCH_KEY: ["a b", "x".repeat(4097)],
  ROLE: ["both", "API", "api", "worker"],
  NOTICE_SECONDS: ["-1", "3601", "10s"],
  DRAIN_SECONDS: ["-1", "3601", "25s"],
  LOG_LEVEL: ["verbose", "INFO"],
  CALL_LOG: ["on", "101%", "-1%", "5"],
  SLOW_STATEMENT_MS: ["-1", "1s", "3600001"],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    "collector:4318",
    "ftp://collector",
    "http://a@collector",
    "http://collector/?q",
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [
    "authorization",
    "a=%zz",
    "a=x%0d%0ab",
    "a b=c",
    "a=b,",
    `a=${"x".repeat(8_191)}`,
  ],
  PERMISSIONS: [
    "deny",
    "{}",
    '[{"tool":"bash"}]',
    '[{"tool":"bash","decision":"never"}]',
    '[{"tool":"a b","decision":"deny"}]',
    '[{"tool":"bash","decision":"deny","each_time":true}]',
    '[{"tool":"bash","decision":"deny","host":"a"}]',
  ],
  OTEL_SERVICE_NAME: ["a\nb", "x".repeat(256)],
  OTEL_TRACES_SAMPLER: ["sometimes", "ALWAYS_ON"],
  OTEL_TRACES_SAMPLER_ARG: ["1.1", "-1", "5%", "1e-3"],
  OTEL_LOGS_EXPORTER: ["console", "OTLP"],
  TRACE_TRUST: ["10.0.0.0/33", "localhost", "10.0.0.0/8/8", "::/129", "10.0.0.0:80"],
};

describe("a bad value", () => {
  test("is tested for every variable", () => {
    expect(Object.keys(bad).sort()).toEqual(entries.map(([name]) => name).sort());
  });

  test.each(
    entries.flatMap(([name, entry]) => (bad[name] ?? []).map((value) => ({ name, value, entry }))),
  )("$name=$value stops the start with variable, rule and example", ({ name, value, entry }) => {
    const { problems, message } = problemsOf({ [name]: value });
    expect(problems.map(({ variable }) => variable)).toContain(name);
    expect(message).toContain(`${name} must be ${entry.rule}`);
    expect(message).toContain(`for example ${name}=${entry.example}`);
  });

  test("of HOST that makes BASE_URL clear text on a network is reported for BASE_URL", () => {
    expect(problemsOf({ HOST: "10.0.0.1" }).problems.map(({ variable }) => variable)).toEqual(["BASE_URL"]);
    expect(problemsOf({ BASE_URL: "http://example.com" }).problems, "reported once").toHaveLength(1);
  });

  test("is quoted, shortened", () => {
    expect(problemsOf({ PORT: "x".repeat(500) }).message).toContain(`(it is "${"x".repeat(80)}")`);
  });

  test.each([
    { DATABASE_URL: "mysql://root:sesame@db/x" },
    { SMTP_URL: "http://root:sesame@mail" },
    { OIDC_CLIENT_SECRET: "sesame\n" },
    { S3_SECRET_ACCESS_KEY: "sesame\n" },
    { ENCRYPTION_KEY: "sesame" },
    { DATABASE_URL: "postgresql://root:sesame@db/x" },
  ])("of a secret is never shown: %j", (env) => {
    const error = problemsOf(env);
    expect(`${error.message} ${JSON.stringify(error)} ${error.stack}`).not.toContain("sesame");
  });

  test("is reported together with all others", () => {
    expect(
      problemsOf({ PORT: "x", ROLE: "y", LOG_LEVEL: "z" }).problems.map(({ variable }) => variable),
    ).toEqual(["PORT", "ROLE", "LOG_LEVEL"]);
  });
});

describe("variables together", () => {
  test.each([
    { BODY_LIMIT: "many", BODY_MEMORY: "2KiB" },
    { BODY_MEMORY: "many", BODY_LIMIT: "1GiB" },
    { PORT: "http", ADMIN_PORT: "8080" },
    { SITES_DOMAIN: "a b", CONSENT_URL: "http://app.localhost" },
    { S3_ACCESS_KEY_ID: "a b", S3_SECRET_ACCESS_KEY: "s" },
  ])("are not compared when one of them is invalid: %j", (env) => {
    expect(problemsOf(env).problems.map(({ variable }) => variable)).toEqual(Object.keys(env).slice(0, 1));
  });

  test("PostgreSQL requires an encryption key", () => {
    expect(problemsOf({ DATABASE_URL: "postgresql://db/x" }).message).toContain("ENCRYPTION_KEY must be");
  });

  test("a direct address requires a pooler's", () => {
    const direct = { DATABASE_DIRECT_URL: "postgresql://db/x", ENCRYPTION_KEY: postgres.ENCRYPTION_KEY };
    expect(problemsOf(direct).problems).toMatchObject([
      { variable: "DATABASE_DIRECT_URL", text: expect.stringContaining("DATABASE_URL") },
    ]);
  });

  test("a malformed encryption key is one problem, not two", () => {
    expect(problemsOf({ DATABASE_URL: "postgresql://db/x", ENCRYPTION_KEY: "x" }).problems).toHaveLength(1);
  });

  test.each(["api", "worker"])("%s alone demands PostgreSQL", (role) => {
    expect(problemsOf({ ROLE: role }).message).toContain("ROLE must be");
    expect(loadConfig({ ...postgres, ROLE: role, DATA_DIR_SHARED: "true" }).role).toBe(role);
  });

  test.each([
    "api",
    "worker",
  ])("%s on PostgreSQL demands a bucket, or a data folder that is said to be shared", (role) => {
    const { problems, message } = problemsOf({ ...postgres, ROLE: role });
    expect(problems.map(({ variable }) => variable)).toEqual(["DATA_DIR_SHARED"]);
    expect(message).toMatch(
      /^ROLE=\w+ needs files that all processes can read: set S3_BUCKET, or DATA_DIR_SHARED=true when/,
    );
    expect(() => loadConfig({ ...postgres, ROLE: role, S3_BUCKET: "files" })).not.toThrow();
  });

  test.each([
    [
      "manus-1.6-mx",
      "a name of the public API that is none of manus-1.6, manus-1.6-lite, manus-1.6-max; did you mean manus-1.6-max?",
    ],
    ["lite", "a name of the public API that is none of manus-1.6, manus-1.6-lite, manus-1.6-max"],
    ["2.0-max", "a name of the public API that is none of manus-1.6, manus-1.6-lite, manus-1.6-max"],
  ])("AGENT_PROFILES refuses the profile %s, which means another one", (profile, says) => {
    const { problems, message } = problemsOf({ AGENT_PROFILES: `manus-1.6=offline,${profile}=remote` });
    expect(problems.map(({ variable }) => variable)).toEqual(["AGENT_PROFILES"]);
    expect(message).toBe(`AGENT_PROFILES names the profile ${profile}, ${says}`);
  });
});

describe("the configuration", () => {
  test("cannot be changed, at any depth", () => {
    const config = loadConfig({ WEBHOOK_ALLOW: "10.0.0.0/8" });
    for (const part of [config, config.agentProfiles, config.webhookAllow, config.webhookAllow[0]])
      expect(part).toSatisfy(Object.isFrozen);
  });

  test("is documented as implemented", () => {
    expect(readFileSync("docs/reference/configuration.md", "utf8")).toBe(configurationPage());
  });
});
