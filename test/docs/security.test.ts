import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { explained, install, serve, sharedCheckout } from "../commands/checkout.ts";
import { rowsIn } from "../support/database.ts";
import { blocksIn, readPage } from "./page.ts";

test("the commands of docs/operate/secrets.md replace the encryption key while a server runs", async () => {
  using checkout = sharedCheckout();
  const blocks = blocksIn(readPage("docs/operate/secrets.md"), "sh").filter((block) =>
    block.includes("rotate-key"),
  );
  const [rotate = "", finish = ""] = blocks;
  await install(checkout, "rotated");
  const oldKey = readFileSync(checkout.path("rotated/encryption-key"), "utf8").trim();
  const newKey = randomBytes(32).toString("base64");
  const both = { ENCRYPTION_KEY: newKey, ENCRYPTION_KEY_PREVIOUS: oldKey };
  const run = (lines: string, env: Record<string, string> = both) => {
    const commands = checkout.lines(lines);
    return checkout.command(["bash", "-ec", commands], { DATA_DIR: checkout.path("rotated"), ...env }).ended;
  };
  {
    await using _old = await serve(checkout, "rotated", { ENCRYPTION_KEY: oldKey });
    expect(await run(rotate)).toMatchObject({
      code: 1,
      err: expect.stringContaining("1 running processes do not know the new key"),
    });
    expect(await run(rotate, { ENCRYPTION_KEY: newKey })).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not the key"),
    });
  }
  await using _serving = await serve(checkout, "rotated", both);
  expect(await run(rotate)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+ values encrypted again/),
  });
  expect(await run(rotate)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0 values encrypted again/),
  });
  const [status = "", end = ""] = finish.split("\n");
  const shown = await run(status);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("the new key encrypts since 20") });
  expect(shown.out.match(/ (\d+) by the old key/g)).toEqual(Array(13).fill(" 0 by the old key"));
  expect(await run(end)).toMatchObject({ code: 1, err: expect.stringContaining("try again in a minute") });
  const [stored] = await rowsIn(
    `file:${checkout.path("rotated/platform.db")}`,
    "SELECT value FROM setting WHERE key = 'encryption-key-check'",
  );
  expect(stored?.["value"]).toBe(
    createHmac("sha256", Buffer.from(newKey, "base64")).update("encryption key check").digest("hex"),
  );
});

test.each([
  [["--status", "--finish"]],
  [["--delete-archives"]],
  [["now"]],
])("rotate-key %j is one line of explanation and exit code 2", async (words) => {
  using checkout = sharedCheckout();
  const { code, out, err } = await checkout.atp("rotate-key", words, { DATA_DIR: "usage" }).ended;
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(explained);
});
