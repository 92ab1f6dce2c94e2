import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runWith, testFolder } from "./rig.ts";

const home = testFolder();
const run = (env: Readonly<Record<string, string>>, ...words: string[]) =>
  runWith(home, { url: "http://127.0.0.1:9" }, ["config", ...words], { env });

function written(name: string, text: string): string {
  writeFileSync(join(home, name), text);
  return join(home, name);
}

const key = Buffer.alloc(32, 7).toString("base64");

describe("atp config", () => {
  test("shows each setting with its source, and of a secret only that it is set", async () => {
    const file = written("atp.toml", 'PORT = 8090\nHOST = "127.0.0.1"\n');
    const env = {
      PORT: "8091",
      ENCRYPTION_KEY_FILE: written("key", key),
      SMTP_URL: "smtp://ann:hunter2@127.0.0.1",
      MAIL_FROM: "a@example.com",
    };
    const { code, out, err } = await run(env, "--config", file);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.trim().split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "PORT\tenvironment\t8091",
        "HOST\tfile\t127.0.0.1",
        "ENCRYPTION_KEY\tenvironment\tset",
        "SMTP_URL\tenvironment\tset",
        "DATA_DIR\tdefault\t./data",
        "OIDC_CLIENT_SECRET\tdefault\t",
      ]),
    );
    expect(out).not.toMatch(/hunter2|BwcHBwcH/);
  });

  test("names all mistakes and exits with 1; with --json it has settings, problems and warnings", async () => {
    const env = { PORT: "many", RATE_LIMITS: "none", SMTP_URL: "hunter2", PROT: "1" };
    const text = await run(env);
    expect(text.code).toBe(1);
    for (const said of ["PORT must be", "RATE_LIMITS must be", "SMTP_URL must be", "did you mean PORT?"])
      expect(text.err).toContain(said);
    const json = await run(env, "--json");
    expect(json.code).toBe(1);
    const { settings, problems, warnings } = JSON.parse(json.out);
    expect(problems.map(({ variable }: { readonly variable: string }) => variable)).toEqual(
      expect.arrayContaining(["PORT", "RATE_LIMITS", "SMTP_URL"]),
    );
    expect(settings).toEqual(
      expect.arrayContaining([{ name: "SMTP_URL", source: "environment", value: "set" }]),
    );
    expect(warnings).toHaveLength(1);
    expect(`${text.out}${text.err}${json.out}`).not.toContain("hunter2");
  });
});
