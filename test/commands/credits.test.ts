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

const run = (script: string, dataDir: string, words: readonly string[]) =>
  checkout.atp(script, words, { DATA_DIR: dataDir }).ended;

describe("atp credits and atp budget", () => {
  test.each(
    share(
      [
        { script: "credits", words: [] },
        { script: "credits", words: ["grant"] },
        { script: "credits", words: ["grant", "--credits", "1.5"] },
        { script: "credits", words: ["grant", "--credits", "5", "--task", "x"] },
        { script: "credits", words: ["refund", "--credits", "5"] },
        { script: "credits", words: ["refund", "--task", "x", "--user", "a@example.com"] },
        { script: "budget", words: ["set", "--kind", "team"] },
        { script: "budget", words: ["set", "--kind", "task", "--credits", "5"] },
        { script: "budget", words: ["set", "--kind", "team", "--credits", "-5"] },
        { script: "budget", words: ["set", "--kind", "team", "--credits", "5", "--period", "week"] },
        { script: "budget", words: ["remove"] },
        { script: "budget", words: ["list", "--kind", "team"] },
      ],
      0,
      3,
    ),
  )("explain themselves with exit code 2, and change nothing: $script $words", async ({ script, words }) => {
    const { code, out, err } = await run(script, "usage", words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test("report what does not exist", async () => {
    await install(checkout, "made");
    expect(await run("credits", "made", ["refund", "--task", "nothing"])).toMatchObject({ code: 5, out: "" });
    expect(await run("budget", "made", ["remove", "nothing"])).toMatchObject({ code: 5, out: "" });
    expect(
      await run("budget", "made", ["set", "--kind", "project", "--subject", "nothing", "--credits", "1"]),
    ).toMatchObject({ code: 5 });
    expect(await run("budget", "made", ["list"])).toMatchObject({ code: 0, out: "" });
  });
});
