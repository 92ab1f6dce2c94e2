import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { manifest, skillZip } from "../core/skills/zip-maker.ts";
import { rowsIn } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
beforeAll(async () => {
  checkout = sharedCheckout();
  mkdirSync(checkout.path("minutes"));
  writeFileSync(checkout.path("minutes/SKILL.md"), manifest());
  writeFileSync(checkout.path("tea.zip"), skillZip("Tea"));
  await install(checkout, "data");
  await checkout.atp("user", ["--email", "ann@example.com"], { DATA_DIR: "data" }).ended;
});
afterAll(() => checkout[Symbol.dispose]());

/** `atp server-skill`, as in docs/guides/skills.md. */
const skill = (...words: string[]) => checkout.atp("server-skill", words, { DATA_DIR: "data" }).ended;
const rows = (sql: string) => rowsIn(`file:${join(checkout.path("data"), "platform.db")}`, sql);

describe("atp server-skill", () => {
  test.each(
    share(
      [
        ["nothing", []],
        ["an import of nothing", ["import"]],
        ["two owners", ["import", "minutes", "--official", "--team", "x"]],
        ["an owner for a list", ["list", "--official"]],
        ["words left over", ["remove", "a", "b"]],
        ["an unknown word", ["import", "minutes", "--everybody"]],
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2 for %s", async (_, words) => {
    const { code, out, err } = await skill(...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
  });

  test("imports folders and ZIPs for all users, a team and a person, replaces, lists and removes, each with a row in the audit log", async () => {
    const made = [
      await skill("import", "minutes", "--official"),
      await skill("import", "tea.zip"),
      await skill("import", "tea.zip", "--user", "ann@example.com"),
      await skill("import", "minutes", "--official"),
    ];
    expect(made.map(({ code, err }) => ({ code, err }))).toEqual(
      Array(4).fill({ code: 0, err: `installation: ${checkout.path("data")}\n` }),
    );
    const ids = made.map(({ out }) => out.split("  ")[0] ?? "");
    expect(made.map(({ out }) => out.split("  ")[1])).toEqual(["Minutes\n", "Tea\n", "Tea\n", "Minutes\n"]);
    expect(ids[3]).toBe(ids[0]);
    const { out } = await skill("list");
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => line.split("  ")[1])
        .toSorted(),
    ).toEqual(["official", "personal", "team"]);
    expect(await skill("remove", ids[0] ?? "")).toMatchObject({ code: 0, out: "" });
    expect((await skill("remove", ids[0] ?? "")).err).toContain("skill not found");
    expect((await skill("list")).out).not.toContain(ids[0]);
    const audit = await rows(
      "SELECT operation, credential, subject FROM audit_event WHERE operation LIKE 'settings.v1.SkillService/%' ORDER BY at",
    );
    expect(audit).toHaveLength(5);
    expect(audit.at(-1)).toEqual({
      operation: "settings.v1.SkillService/DeleteSkill",
      credential: "command",
      subject: ids[0],
    });
    // The replaced and removed bytes are scheduled for deletion.
    expect(await rows("SELECT state FROM blob ORDER BY state")).toEqual([
      { state: "dropped" },
      { state: "dropped" },
      { state: "kept" },
      { state: "kept" },
    ]);
  });

  test("reports the error in one line, and keeps nothing", async () => {
    writeFileSync(checkout.path("broken.zip"), "no ZIP");
    for (const [words, said] of [
      [["import", "broken.zip"], "is not a readable ZIP"],
      [["import", "minutes", "--team", "Unknown"], "not found"],
      [["import", "minutes", "--project", "unknown"], "project not found"],
      [["import", "nowhere"], ""],
    ] as const) {
      const { code, out, err } = await skill(...words);
      expect({ code, out }).toEqual({ code: said.endsWith("not found") ? 5 : 1, out: "" });
      expect(err).toContain(said);
    }
  });
});
