import { createPublicKey } from "node:crypto";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { rowsIn } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, install, type Serving, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

/** `atp webhook-key`, as in docs/guides/webhooks.md. */
const newKey = (dataDir: string, ...words: string[]) =>
  checkout.atp("webhook-key", words, { DATA_DIR: dataDir }).ended;

/** The RSA key that a server publishes. It needs no API key on v1. */
async function rsaKeyOf({ url }: Serving): Promise<string> {
  const answer = await fetch(`${url}/v1/webhook/public_key`);
  return ((await answer.json()) as { readonly public_key: string }).public_key; // docs/guides/v1.md
}

/** The command's events in the audit log. */
async function logOf(dataDir: string) {
  const url = `file:${checkout.path(`${dataDir}/platform.db`)}`;
  return {
    rows: await rowsIn(
      url,
      "SELECT * FROM audit_event WHERE operation = 'command/ReplaceWebhookKey' ORDER BY at",
    ),
  };
}

describe("atp webhook-key", () => {
  test.each(
    share(
      [
        { why: "no algorithm", words: [] },
        { why: "an unknown algorithm", words: ["dsa"] },
        { why: "words left over", words: ["rsa", "ed25519"] },
        { why: "an overlap of an hour", words: ["rsa", "--overlap", "1h"] },
        { why: "an overlap of 31 days", words: ["rsa", "--overlap", "31d"] },
      ],
      0,
      3,
    ),
  )("explains itself with exit code 2, and changes nothing: $why", async ({ words }) => {
    const { code, out, err } = await newKey("usage", ...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test("prints exactly the new public key of its algorithm, a new one each time", async () => {
    await install(checkout, "made");
    const [rsa, ed25519, again] = [
      await newKey("made", "rsa"),
      await newKey("made", "ed25519"),
      await newKey("made", "ed25519"),
    ];
    expect([rsa.code, ed25519.code, again.code]).toEqual([0, 0, 0]);
    expect(createPublicKey(rsa.out).asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    for (const { out } of [ed25519, again]) expect(out).toMatch(/^whpk_[A-Za-z0-9+/]{43}=\n$/);
    expect(again.out).not.toBe(ed25519.out);
  });

  test("replaces the key that the next server publishes while one runs, and keeps the other key", async () => {
    let made: string;
    {
      await using server = await serve(checkout, "live");
      const before = await rsaKeyOf(server);
      expect((await newKey("live", "ed25519")).code).toBe(0);
      const planned = await newKey("live", "rsa", "--overlap", "2h");
      expect([planned.code, planned.err]).toEqual([
        0,
        expect.stringContaining("the new key becomes current at "),
      ]);
      expect((await rsaKeyOf(server)).trim()).toBe(before.trim());
      expect((await newKey("live", "rsa", "--overlap", "2h")).err).toContain(
        "a replacement of the rsa key becomes current at ",
      );
      made = (await newKey("live", "rsa")).out;
      expect(made).toContain("-----BEGIN PUBLIC KEY-----");
      expect(made.trim()).not.toBe(before.trim());
    }
    const { rows: audited } = await logOf("live");
    expect(audited.map(({ subject, before, after }) => [subject, before, after])).toEqual([
      [expect.any(String), expect.stringContaining("ed25519"), expect.stringContaining("ed25519")],
      [expect.any(String), expect.stringContaining("rsa"), expect.stringContaining("rsa")],
      [expect.any(String), expect.stringContaining("rsa"), expect.stringContaining("rsa")],
    ]);
    expect(JSON.stringify(audited)).not.toMatch(/KEY-----|whpk_/);
    expect((await newKey("live", "ed25519")).code).toBe(0);
    await using server = await serve(checkout, "live");
    expect((await rsaKeyOf(server)).trim()).toBe(made.trim());
  });
});
