import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseKinds, databaseUrl, postgresTemplate } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { type Checkout, copyCheckout, freePort } from "./checkout.ts";

let checkout: Checkout;
beforeAll(() => {
  checkout = copyCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

type Env = Readonly<Record<string, string>>;
const run = (command: string, words: readonly string[], env: Env) => checkout.npm(["run", "--silent", command, "--", ...words], env).ended;
const verify = (env: Env, ...words: string[]) => run("audit", ["verify", ...words], env);
const sound = /^(\S+): sound, (\d+) rows sealed, (\d+) not yet, head (\d+:[0-9a-f]{64})\n$/;

describe("npm run audit", () => {
  test.each([
    { why: "no word", words: [] },
    { why: "an unknown word", words: ["check"] },
    { why: "team and space", words: ["verify", "--team", "a", "--space", "b"] },
    { why: "a head of no log", words: ["verify", "--head", `1:${"0".repeat(64)}`] },
    { why: "a head that is none", words: ["verify", "--space", "a", "--head", "1:x"] },
  ])("explains itself with exit code 2, and touches nothing: $why", async ({ words }) => {
    const { code, out, err } = await run("audit", words, { DATA_DIR: "usage" });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("usage: npm run --silent audit -- verify");
    expect(existsSync(checkout.path("usage"))).toBe(false);
  });

  test.each(
    databaseKinds.map((kind) => ({ kind })),
  )("beside a server finds the log sound, then names the row that was changed, with exit code 1 ($kind)", async ({ kind }) => {
    if (kind === "postgresql" && postgresTemplate === undefined) return;
    await using db = await databaseUrl(kind);
    const env = { DATABASE_URL: db.url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"), DATA_DIR: `data-${kind}` };
    const server = checkout.npm(["start"], { ...env, PORT: `${await freePort()}` });
    await server.says(/"msg":"ready"/);
    try {
      expect((await run("key", ["--name", "one"], env)).code).toBe(0);
      expect((await run("key", ["--name", "two"], env)).code).toBe(0);
      const open = async () => (await directly(db, "SELECT id FROM audit_event WHERE seq IS NULL")).length;
      await expect.poll(open).toBe(0);
      const first = await verify(env);
      expect(first).toMatchObject({ code: 0, out: expect.stringMatching(sound) });
      const [, space = "", rows, unsealed, head = ""] = sound.exec(first.out) ?? [];
      expect([Number(rows) >= 2, unsealed]).toEqual([true, "0"]);
      expect((await verify(env, "--space", space, "--head", head)).code, "through a head that was kept").toBe(0);
      expect((await verify(env, "--team", "no such team")).code).toBe(1);

      await directly(db, "UPDATE audit_event SET subject = 'other' WHERE seq = 2");
      const [row] = await directly(db, "SELECT id FROM audit_event WHERE seq = 2");
      const broken = await verify(env);
      expect(broken.code).toBe(1);
      expect(broken.out).toContain(`BROKEN at 2 (row ${row?.["id"]}), changed`);
      await directly(db, "DELETE FROM audit_event WHERE seq >= 2");
      const [left] = await directly(db, "SELECT hash FROM audit_event WHERE seq = 1");
      await directly(db, `UPDATE audit_head SET seq = 1, hash = '${left?.["hash"]}'`);
      expect((await verify(env)).code, "cut off together with its head").toBe(0);
      expect(await verify(env, "--space", space, "--head", head)).toMatchObject({ code: 1, out: expect.stringContaining("missing") });
    } finally {
      server.child.kill("SIGTERM");
      await server.ended;
    }
  });
});
