import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

const run = (dataDir: string, ...words: string[]) =>
  checkout.atp("server-export", words, { DATA_DIR: dataDir }).ended;

describe("atp server-export", () => {
  test.each(
    share(
      [
        { why: "no word", words: [] },
        { why: "an unknown word", words: ["make"] },
        { why: "nothing to cancel", words: ["cancel"] },
        { why: "words left over", words: ["list", "all"] },
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2, and changes nothing: $why", async ({ words }) => {
    const { code, out, err } = await run("usage", ...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test("lists nothing without exports, and says so when there is nothing to cancel", async () => {
    await install(checkout, "empty");
    expect(await run("empty", "list")).toMatchObject({ code: 0, out: "" });
    const { code, out, err } = await run("empty", "cancel", "Vn8Qd2LkTz5hXw3BsRmYpC");
    expect({ code, out }).toEqual({ code: 5, out: "" });
    expect(err).toContain("export not found");
  });
});
