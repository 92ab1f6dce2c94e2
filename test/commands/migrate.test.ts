import { existsSync, readdirSync } from "node:fs";
import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

test("atp migrate names each migration of an empty database with its seconds, and only a second run finds it up to date", async () => {
  using checkout = sharedCheckout();
  const migrate = () => checkout.atp("migrate", [], { DATA_DIR: "data" }).ended;
  const names = readdirSync("prisma/sqlite/migrations").filter((name) => /^\d/.test(name));
  const first = await migrate();
  expect(first).toMatchObject({ code: 0, out: "", err: expect.not.stringContaining("up to date") });
  expect(first.err.match(/^\S+(?=: \d+\.\d\d s$)/gm)).toEqual(names.toSorted());
  expect(first.err).toContain(`sqlite: ${names.length} migrations were applied in `);
  expect(await migrate()).toMatchObject({
    code: 0,
    out: "",
    err: `sqlite: the database is up to date: ${checkout.path("data")}\n`,
  });
  expect(existsSync(checkout.path("data/platform.db"))).toBe(true);
  const key = await checkout.atp("key", ["--name", "first"], { DATA_DIR: "data" }).ended;
  expect(key).toMatchObject({
    code: 1,
    out: "",
    err: `no installation in ${checkout.path("data")}; set DATA_DIR or DATABASE_URL\n`,
  });
});
