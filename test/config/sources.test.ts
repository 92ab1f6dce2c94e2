import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, findMisspeltSettings, loadConfig } from "../../src/config/config.ts";
import { variableGroups } from "../../src/config/variables.ts";

const folder = mkdtempSync(join(tmpdir(), "settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function problemsOf(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

const key = Buffer.alloc(32, 5).toString("base64");
const toml = (content: string) => written("atp.toml", content);

describe("CONFIG_FILE", () => {
  test.each([
    [
      "atp.toml",
      '# Comments are allowed.\nPORT = 9090\nLOG_LEVEL = "warn"\nSIEM_PAYLOADS = "on"\nDATA_DIR_SHARED = true\n',
    ],
    ["atp.json", '{"PORT": 9090, "LOG_LEVEL": "warn", "SIEM_PAYLOADS": "on", "DATA_DIR_SHARED": true}'],
  ])("%s has settings as texts, numbers, true and false", (name, content) => {
    expect(loadConfig({ CONFIG_FILE: written(name, content) })).toMatchObject({
      port: 9090,
      logLevel: "warn",
      siemPayloads: true,
      isDataDirShared: true,
    });
  });

  test("gives way to the environment, except to an empty variable", () => {
    const CONFIG_FILE = toml('PORT = 9090\nHOST = "::1"\n');
    expect(loadConfig({ CONFIG_FILE, PORT: "7000", HOST: "" })).toMatchObject({ port: 7000, host: "::1" });
  });

  test("gives way to the file of a secret in the environment", () => {
    const CONFIG_FILE = toml('ENCRYPTION_KEY = "not a key"\n');
    expect(loadConfig({ CONFIG_FILE, ENCRYPTION_KEY_FILE: written("key", key) }).encryptionKey).toBe(key);
  });

  test("can name the file of a secret", () => {
    expect(
      loadConfig({ CONFIG_FILE: toml(`ENCRYPTION_KEY_FILE = "${written("key", key)}"`) }).encryptionKey,
    ).toBe(key);
  });

  test("has the same rules as the environment", () => {
    expect(problemsOf({ CONFIG_FILE: toml("PORT = 70000") })).toMatch(/^PORT must be .+\(it is "70000"\)/);
  });

  test.each([
    ["PROT = 1", '"PROT" is not a setting; did you mean PORT?'],
    ["COLOUR = 1", '"COLOUR" is not a setting; docs/reference/configuration.md lists them'],
    ['CONFIG_FILE = "other.toml"', '"CONFIG_FILE" is not a setting'],
    ["[PORT]\na = 1", "PORT must be a text, a number, true or false"],
    ["CORS_ORIGINS = ['https://a.example']", "CORS_ORIGINS must be a text, a number, true or false"],
    ['PORT = 1\nENCRYPTION_KEY = "very-secret" x', "CONFIG_FILE is not valid TOML (line 2, column "],
  ])("stops the start for %j, without the content of the file", (content, text) => {
    const problems = problemsOf({ CONFIG_FILE: toml(content) });
    expect(problems).toContain(text);
    expect(problems).not.toContain("very-secret");
  });

  test.each([
    ["list.json", "[1]", "is not a JSON object"],
    ["broken.json", '{"ENCRYPTION_KEY": "very-secret', "is not a JSON object"],
    ["large.toml", `#${"x".repeat(256 * 1024)}`, "names a file of more than 262144 bytes"],
  ])("stops the start for %s", (name, content, text) => {
    const problems = problemsOf({ CONFIG_FILE: written(name, content) });
    expect(problems).toContain(`CONFIG_FILE ${text}`);
    expect(problems).not.toContain("very-secret");
  });

  test("names the reason when the file cannot be read", () => {
    expect(problemsOf({ CONFIG_FILE: join(folder, "absent.toml") })).toContain(
      "CONFIG_FILE names a file that cannot be read (ENOENT)",
    );
    const CONFIG_FILE = join(folder, "folder.toml");
    mkdirSync(CONFIG_FILE);
    expect(problemsOf({ CONFIG_FILE })).toContain("CONFIG_FILE names a file that cannot be read (EISDIR)");
  });

  test("is given to the server by --config FILE", () => {
    const args = ["cli/main.ts", "serve", "--config", toml("PORT = 70000")];
    const refused = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] },
    });
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/^PORT must be /) });
  });

  test("is the only argument of the server", () => {
    const refused = spawnSync(process.execPath, ["cli/main.ts", "serve", "--port", "1"], {
      env: { PATH: process.env["PATH"] },
    });
    expect(refused.status).toBe(2);
  });
});

const secrets = Object.values(variableGroups).flatMap((group) =>
  Object.entries(group).flatMap(([name, variable]) => ("secret" in variable ? [{ name, variable }] : [])),
);

describe("the file of a secret", () => {
  test("is a setting for each secret", () => {
    expect(secrets.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "DATABASE_URL",
        "ENCRYPTION_KEY",
        "OIDC_CLIENT_SECRET",
        "SMTP_URL",
        "S3_SECRET_ACCESS_KEY",
      ]),
    );
    expect(
      findMisspeltSettings(Object.fromEntries(secrets.map(({ name }) => [`${name}_FILE`, "x"]))),
    ).toEqual([]);
  });

  test.each(secrets)("of $name is read: its content has the rule of $name and is not shown", ({
    name,
    variable,
  }) => {
    const bad = problemsOf({ [`${name}_FILE`]: written("secret", "\0very-secret\n") });
    expect(bad).toContain(`${name} must be ${variable.rule};`);
    expect(bad).not.toContain("very-secret");
  });

  test.each(["", "\n", "\r\n"])("may end with %j, which does not belong to the secret", (end) => {
    expect(loadConfig({ ENCRYPTION_KEY_FILE: written("key", `${key}${end}`) }).encryptionKey).toBe(key);
  });

  test("is refused next to the secret itself", () => {
    const env = { ENCRYPTION_KEY: key, ENCRYPTION_KEY_FILE: written("key", key) };
    expect(problemsOf(env)).toBe("ENCRYPTION_KEY_FILE and ENCRYPTION_KEY are both set: set one of them");
  });

  test.each([
    ["", "ENCRYPTION_KEY_FILE names an empty file: "],
    ["\n", "ENCRYPTION_KEY_FILE names an empty file: "],
    ["x".repeat(65_537), "ENCRYPTION_KEY_FILE names a file of more than 65536 bytes: "],
  ])("stops the start if it is empty or too large", (content, text) => {
    expect(problemsOf({ ENCRYPTION_KEY_FILE: written("key", content) })).toContain(text);
  });

  test("stops the start if it cannot be read", () => {
    expect(problemsOf({ SMTP_URL_FILE: join(folder, "absent") })).toContain(
      "SMTP_URL_FILE names a file that cannot be read (ENOENT)",
    );
  });
});
