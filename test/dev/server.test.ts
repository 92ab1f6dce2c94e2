import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startServer } from "../../scripts/dev/server.ts";
import { emptyFolder } from "../commands/checkout.ts";
import { hangMs } from "../support/patience.ts";

/** A program instead of the server. */
const program = "setInterval(() => {}, 1000);";

test("a stop during a restart leaves no process, and none is launched after it", async () => {
  using place = emptyFolder();
  mkdirSync(place.path("cli"));
  writeFileSync(place.path("cli/main.ts"), program);
  const server = startServer(place.path("."), { PATH: process.env["PATH"] }, () => expect.unreachable());
  // Node, and the program that it watches.
  await expect.poll(() => place.processes().length, { timeout: hangMs }).toBe(2);
  const before = place.processes();
  const restarted = server.restart();
  await server.stop();
  await restarted;
  for (const pid of before) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(place.processes()).toEqual([]);
});
