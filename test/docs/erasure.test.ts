import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { explained, install, serve, sharedCheckout } from "../commands/checkout.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

test("the commands of docs/operate/erasure.md hold, count and erase a person while a server runs, and erase again after a restore", async () => {
  using checkout = sharedCheckout();
  const blocks = blocksIn(readPage("docs/operate/erasure.md"), "sh");
  const [count = "", erase = "", pending = "", restore = "", list = "", holds = ""] = blocks;
  await install(checkout, "source");
  const ENCRYPTION_KEY = readFileSync(checkout.path("source/encryption-key"), "utf8").trim();
  const run = (lines: string, dataDir = "source") => {
    const commands = checkout.lines(lines.replaceAll("/backups", checkout.path("backups")));
    return checkout.command(["bash", "-ec", commands], { DATA_DIR: checkout.path(dataDir), ENCRYPTION_KEY })
      .ended;
  };
  await using _serving = await serve(checkout, "source");
  expect((await run("./atp user --email ann@example.com")).code).toBe(0);
  mkdirSync(checkout.path("backups"));
  expect((await run("./atp backup /backups/older")).code).toBe(0);

  const [add = "", show = "", end = ""] = holds.split("\n");
  expect(await run(`${add}\n${show}`)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^(case 12: person \S+, since \S+\n){2}$/),
  });
  expect(await run(erase)).toMatchObject({
    code: 1,
    err: expect.stringContaining('under legal hold: "case 12"'),
  });
  expect((await run(end)).code).toBe(0);

  const counted = await run(count);
  expect(counted.out).toMatch(
    /^person ann@example\.com: rows to delete\n(?: {2}\w+: \d+\n)*? {2}membership: 1\n {2}account: 1\n/,
  );
  expect(await run(erase.replace(/--yes .*/, ""))).toMatchObject({
    code: 1,
    err: expect.stringContaining('confirm with --yes "ann@example.com"'),
  });
  expect(await run(erase.replace(/--yes .*/, "--yes ann"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("nothing was erased"),
  });
  expect(await run(erase)).toMatchObject({ code: 0, out: expect.stringMatching(/^erased: person \S+\n$/) });
  expect(await run(count)).toMatchObject({ code: 5, err: expect.stringContaining("ann@example.com") });
  expect(await run(pending)).toMatchObject({ code: 0, out: "No erasure is open.\n" });

  copyFileSync(checkout.path("source/erasures.jsonl"), checkout.path("backups/erasures.jsonl"));
  expect(await run(restore, "copy")).toMatchObject({
    code: 0,
    err: expect.stringContaining("erased again: person "),
  });
  expect(await run(list, "copy")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^person \S+ \d\S+Z \d\S+Z\n$/),
  });
  expect(readFileSync(checkout.path("copy/platform.db"), "latin1")).not.toContain("ann@example.com");
});

test.each([
  ["erase", []],
  ["erase", ["--person", "a", "--space", "b"]],
  ["erase", ["--pending", "--yes", "a"]],
  ["erase", ["--person", "a", "--dry-run", "--yes", "a"]],
  ["legal-hold", ["add", "x"]],
  ["legal-hold", ["remove"]],
  ["legal-hold", ["add", "x", "--person", "a", "--space", "b"]],
  ["legal-hold", ["other"]],
])("%s %j is one line of explanation and exit code 2", async (command, words) => {
  using checkout = sharedCheckout();
  const { code, out, err } = await checkout.atp(command, words, { DATA_DIR: "usage" }).ended;
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(explained);
});
