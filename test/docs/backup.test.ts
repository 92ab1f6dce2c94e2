import { mkdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { explained, install, serve, sharedCheckout } from "../commands/checkout.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

test("the commands of docs/operate/backup.md back up a serving installation, check the copy, restore it held, and resume it", async () => {
  using checkout = sharedCheckout();
  const blocks = blocksIn(readPage("docs/operate/backup.md"), "sh").map((block) =>
    block.replaceAll("/backups", checkout.path("backups")),
  );
  const [backup = "", check = "", restore = "", resume = "", revoking = ""] = blocks;
  mkdirSync(checkout.path("backups"));
  const run = async (lines: string, dataDir: string) => {
    const env = { DATA_DIR: checkout.path(dataDir), ENCRYPTION_KEY: key(checkout.path("source")) };
    return checkout.command(["bash", "-ec", checkout.lines(lines)], env).ended;
  };
  await install(checkout, "source");
  await using _serving = await serve(checkout, "source");
  const made = await run(backup, "source");
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: 0 files and the database, \d+ bytes\n$/),
  });
  expect(made.err).toContain("The encryption key is not in the backup");
  expect(await run(check, "source")).toMatchObject({ code: 0, out: "" });
  expect(await run(restore, "copy")).toMatchObject({
    code: 0,
    out: expect.stringContaining("restored the backup of 20"),
  });
  const held = await checkout.command([process.execPath, "cli/main.ts", "serve"], {
    DATA_DIR: checkout.path("copy"),
    ENCRYPTION_KEY: key(checkout.path("source")),
  }).ended;
  expect(held).toMatchObject({ code: 1, err: expect.stringContaining("is held: `atp resume`") });
  const resumed = await run(resume, "copy");
  expect(resumed.code).toBe(0);
  expect(resumed.out.match(/deliveries to webhooks: 0/g)).toHaveLength(2);
  expect(resumed.out.match(/no longer held/g)).toHaveLength(1);
  expect(await run(revoking, "other")).toMatchObject({ code: 0 });
});

test.each([
  "backup",
  "restore",
])("npm run %s explains itself with exit code 2 for wrong arguments", async (command) => {
  using checkout = sharedCheckout();
  for (const words of [[], ["a", "b"], ["a", "--all"]]) {
    const { code, out, err } = await checkout.atp(command, words, { DATA_DIR: "usage" }).ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
  }
});

const key = (dataDir: string): string => readFileSync(`${dataDir}/encryption-key`, "utf8").trim();
