import { existsSync } from "node:fs";
import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

test("atp migrate migrates an empty database, which a second run finds up to date, and creates no account", async () => {
  using checkout = sharedCheckout();
  const migrate = () => checkout.atp("migrate", [], { DATA_DIR: "data" }).ended;
  for (const run of [await migrate(), await migrate()]) {
    expect(run).toMatchObject({ code: 0, out: "", err: expect.stringContaining("sqlite: the database is up to date") });
  }
  expect(existsSync(checkout.path("data/platform.db"))).toBe(true);
  const key = await checkout.atp("key", ["--name", "first"], { DATA_DIR: "data" }).ended;
  expect(key).toMatchObject({ code: 1, out: "", err: `no installation in ${checkout.path("data")}; set DATA_DIR or DATABASE_URL\n` });
});
