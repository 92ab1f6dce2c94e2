import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

/** `atp worker-key`, as in the README. */
const newWorker = (dataDir: string, ...words: string[]) =>
  checkout.atp("worker-key", words, { DATA_DIR: dataDir }).ended;

describe("atp worker-key", () => {
  test.each(
    share(
      [
        { why: "no name", words: [] },
        { why: "an unknown option", words: ["--name", "x", "--colour", "red"] },
        { why: "a profile that is none", words: ["--name", "x", "--profiles", "Big One"] },
        { why: "words left over", words: ["--name", "x", "y"] },
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2, and changes nothing: $why", async ({ words }) => {
    const { code, out, err } = await newWorker("usage", ...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test("refuses an unknown team", async () => {
    await install(checkout, "team");
    expect(await newWorker("team", "--name", "x", "--team", "Nobody's")).toMatchObject({ code: 5, out: "" });
  });

  test("prints exactly the credential, which then polls at a new server", async () => {
    await install(checkout, "made");
    const made = await newWorker("made", "--name", "laptop", "--profiles", "manus-1.6");
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^wk-[A-Za-z0-9_-]{49}\n$/) });
    await using server = await serve(checkout, "made");
    const headers = { "x-api-key": made.out.trim(), "content-type": "application/json" };
    const reply = await fetch(`${server.url}/worker.v1.WorkerService/Poll`, {
      method: "POST",
      headers,
      body: "{}",
    });
    expect([reply.status, await reply.json()]).toEqual([200, {}]);
  });
});
