import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { type Checkout, sharedCheckout } from "../commands/checkout.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, expectPrinted, readPage } from "./page.ts";

const test = sampledTest(3);

let checkout: Checkout;
const home = mkdtempSync(join(tmpdir(), "operator-"));
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => {
  checkout[Symbol.dispose]();
  rmSync(home, { recursive: true, force: true });
});

test("docs/quickstart/operator.md: its commands install, make a key and users, back up, restore, and rehearse an upgrade", async () => {
  const script = blocksIn(readPage("docs/quickstart/operator.md"), "sh").join("\n");
  const lines = checkout.lines(script).replace("PORT=8080", `PORT=${await freePort()}`);
  const { code, out, err } = await checkout.command(["bash", "-ec", lines], {
    HOME: home,
    XDG_CONFIG_HOME: home,
  }).ended;
  expect(code, err).toBe(0);
  expectPrinted(out, script);
  expect(checkout.processes()).toEqual([]);
});
