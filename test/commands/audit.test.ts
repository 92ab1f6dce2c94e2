import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { databaseKinds, databaseUrl, postgresTemplate } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { sampledTest } from "../support/sampled.ts";
import { type Checkout, explained, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

type Env = Readonly<Record<string, string>>;
const run = (command: string, words: readonly string[], env: Env) => checkout.atp(command, words, env).ended;
const verify = (env: Env, ...words: string[]) => run("audit", ["verify", ...words], env);
const intact = /^(\S+): intact, (\d+) rows sealed, (\d+) not yet, head (\d+:[0-9a-f]{64})\n$/;

describe("atp audit", () => {
  test.each(
    share(
      [
        { why: "no word", words: [] },
        { why: "an unknown word", words: ["check"] },
        { why: "team and space", words: ["verify", "--team", "a", "--space", "b"] },
        { why: "a head of no log", words: ["verify", "--head", `1:${"0".repeat(64)}`] },
        { why: "a head that is none", words: ["verify", "--space", "a", "--head", "1:x"] },
      ],
      0,
      5,
    ),
  )("explains itself with exit code 2, and changes nothing: $why", async ({ words }) => {
    const { code, out, err } = await run("audit", words, { DATA_DIR: "usage" });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(explained);
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  const kinds =
    postgresTemplate === undefined ? (["sqlite"] as const) : share(databaseKinds, 1, databaseKinds.length);

  test.each(
    kinds.map((kind) => ({ kind })),
  )("next to a running server finds the log intact, then names the changed row, with exit code 1 ($kind)", async ({
    kind,
  }) => {
    await using db = await databaseUrl(kind);
    const env = {
      DATABASE_URL: db.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      DATA_DIR: `data-${kind}`,
    };
    await using _server = await serve(checkout, env.DATA_DIR, env);
    expect((await run("key", ["--name", "one"], env)).code).toBe(0);
    expect((await run("key", ["--name", "two"], env)).code).toBe(0);
    const open = async () => (await runDirectly(db, "SELECT id FROM audit_event WHERE seq IS NULL")).length;
    await expect.poll(open).toBe(0);
    const first = await verify(env);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(intact) });
    const [, space = "", rows, unsealed, head = ""] = intact.exec(first.out) ?? [];
    expect([Number(rows) >= 2, unsealed]).toEqual([true, "0"]);
    expect((await verify(env, "--space", space, "--head", head)).code, "through a head that was kept").toBe(
      0,
    );
    expect((await verify(env, "--team", "no such team")).code).toBe(5);

    await runDirectly(db, "UPDATE audit_event SET subject = 'other' WHERE seq = 2");
    const [row] = await runDirectly(db, "SELECT id FROM audit_event WHERE seq = 2");
    const broken = await verify(env);
    expect(broken.code).toBe(1);
    expect(broken.out).toContain(`BROKEN at 2 (row ${row?.["id"]}), changed`);
    await runDirectly(db, "DELETE FROM audit_event WHERE seq >= 2");
    const [left] = await runDirectly(db, "SELECT hash FROM audit_event WHERE seq = 1");
    await runDirectly(db, `UPDATE audit_head SET seq = 1, hash = '${left?.["hash"]}'`);
    expect((await verify(env)).code, "cut off together with its head").toBe(0);
    expect(await verify(env, "--space", space, "--head", head)).toMatchObject({
      code: 1,
      out: expect.stringContaining("missing"),
    });
  });
});
