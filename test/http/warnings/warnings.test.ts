import { describe, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { newKeyText } from "../../../src/core/keys/api-key.ts";
import { codeText } from "../../../src/core/oauth/code.ts";
import { encodeWebhookSecret } from "../../../src/core/webhooks/new-webhook.ts";
import { newWorkerText } from "../../../src/core/workers/worker.ts";
import { Warnings } from "../../../src/http/warnings/warnings.ts";

const names = ["message", "title", "agent_profile"];
const known = { keys: () => names };

function warningsOf(unknown: readonly string[], path = ""): Warnings {
  const warnings = new Warnings();
  for (const name of unknown) warnings.add({ path, name, names: known });
  return warnings;
}

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `x${i}`);

describe("an unknown member", () => {
  test.each([
    ["mesage", "", 'unknown member "mesage"; did you mean "message"?'],
    ["tilte", "projects[3]", 'unknown member "projects[3].tilte"; did you mean "projects[3].title"?'],
    ["Title", "", 'unknown member "Title"; did you mean "title"?'],
    ["colour", "", 'unknown member "colour"'],
    ["", "", 'unknown member ""'],
  ])("%j at %j is named with the nearest member of the same object", (name, path, text) => {
    expect(warningsOf([name], path).texts).toEqual([text]);
  });

  test("that is too long is cut at 64 characters, each of one or two UTF-16 units", () => {
    expect(warningsOf(["y".repeat(65)]).texts).toEqual([`unknown member "${"y".repeat(64)}"`]);
    expect(warningsOf(["😀".repeat(65)]).texts).toEqual([`unknown member "${"😀".repeat(64)}"`]);
  });

  test("with half of a surrogate pair is reported in valid text", () => {
    expect(warningsOf(["a\ud83d"]).texts).toEqual(['unknown member "a\ufffd"']);
  });

  const secrets = {
    "an API key": newKeyText(systemRandom),
    "a worker's credential": newWorkerText(systemRandom),
    "another service's key": "sk-proj-abcdefgh",
    "half of a key": "sk-abcdefgh",
    "a key with words around it": `key: ${newKeyText(systemRandom)}`,
    "a token": "eyJhbGciOiJFUzI1NiJ9.e30.c2ln",
    "a signing secret": encodeWebhookSecret(systemRandom(24)),
    "a client secret": `secret_${Buffer.from(systemRandom(32)).toString("base64url")}`,
    "an authorization code": codeText(systemIds.short(), systemIds.short()),
    "a refresh token": `refresh_${systemIds.short()}_${systemIds.short()}_${systemIds.short()}`,
    "a long run with a digit": "ghp".padEnd(40, "aB3"),
  };
  test.each(Object.entries(secrets))("with the form of %s is not shown", (_what, secret) => {
    expect(warningsOf([secret]).texts).toEqual(['unknown member "(hidden)"']);
    expect(warningsOf([secret]).header).toBe('unknown member "(hidden)"');
  });

  test.each([
    "code_interpreter",
    "secret_answer",
    "refresh_token",
    "task-list",
    "risk-taking-mode",
    "structured_output_schema_version_2",
  ])("%s is shown, because it only resembles a secret", (name) => {
    expect(warningsOf([name]).texts).toEqual([`unknown member "${name}"`]);
  });
});

test("a known member without effect is named as such", () => {
  const warnings = new Warnings();
  warnings.add({ path: "a", name: "convert", names: null });
  expect(warnings.texts).toEqual(['member "a.convert" has no effect']);
});

describe("of many members", () => {
  test("ten are named, in ten texts; the last counts the others", () => {
    expect(warningsOf(many(10)).texts).toEqual(many(10).map((name) => `unknown member "${name}"`));
    const { texts } = warningsOf(many(25));
    expect(texts).toHaveLength(10);
    expect(texts.at(-1)).toBe('unknown member "x9", and 15 more');
  });

  test("the count is marked when counting stopped early", () => {
    const warnings = warningsOf(many(1000));
    expect(warnings.isFull).toBe(true);
    expect(warnings.texts.at(-1)).toBe('unknown member "x9", and at least 990 more');
  });

  test("a refusal names 50, in at most 4 KiB", () => {
    expect(() => warningsOf(many(60)).refuse()).toThrow(/"x49", and 10 more$/);
    let text = "";
    try {
      warningsOf(
        many(60).map((name) => "ü".repeat(62) + name),
        "path",
      ).refuse();
    } catch (thrown) {
      text = String(thrown);
    }
    expect(text).toMatch(/, and \d+ more$/);
    expect(text.length).toBeLessThan(4200);
  });

  test("there is no refusal where there are none", () => {
    expect(() => new Warnings().refuse()).not.toThrow();
    expect(new Warnings()).toMatchObject({ texts: [], isEmpty: true });
  });
});

describe("the header", () => {
  test("joins the texts by commas", () => {
    expect(warningsOf(["mesage", "colour"]).header).toBe(
      'unknown member "mesage"; did you mean "message"?, unknown member "colour"',
    );
  });

  test("is printable ASCII, with any other character escaped by its number", () => {
    expect(warningsOf(["größe", "\r\nSet-Cookie: a=b", "😀", "\u007f"]).header).toBe(
      'unknown member "gr\\u{f6}\\u{df}e", unknown member "\\u{d}\\u{a}Set-Cookie: a=b", unknown member "\\u{1f600}", unknown member "\\u{7f}"',
    );
  });

  test("has at most 1 KiB, for any names and positions", () => {
    for (const name of ["z".repeat(64), "😀".repeat(64), "ä".repeat(64)]) {
      for (const path of ["", "p".repeat(2000), "😀".repeat(2000)]) {
        const { header } = warningsOf(
          many(30).map((end) => name + end),
          path,
        );
        expect(header.length).toBeLessThanOrEqual(1024);
        expect(header).toMatch(/^[\x20-\x7e]+(and \d+ more|members without effect)$/);
      }
    }
  });
});
