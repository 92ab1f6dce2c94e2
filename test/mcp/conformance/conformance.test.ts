import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { depth, share } from "../../support/depth.ts";
import { root } from "../../support/server-process.ts";
import { openFixture } from "./fixture.ts";

const run = promisify(execFile);
const kit = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const expected = join(root, "test/mcp/conformance/expected-failures.yml");

/** In `npm test` one part of the suite, in a full run all of it. */
const scenarios = ["dns-rebinding-protection", "tools-call-with-progress", "server-initialize", "tools-list"];

/** Runs the kit. @returns its output; with the exit code 1 it throws */
async function conformance(args: readonly string[]): Promise<string> {
  const fixture = await openFixture();
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    const { stdout } = await run(
      process.execPath,
      [kit, "server", "--url", fixture.url, "--expected-failures", expected, ...args],
      {
        cwd: folder,
      },
    );
    return stdout;
  } catch (thrown) {
    throw new Error(String((thrown as { stdout?: string }).stdout), { cause: thrown });
  } finally {
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test.each(share(scenarios, 0, 4))("the conformance kit accepts the adapter: %s", async (scenario) => {
  expect(await conformance(["--scenario", scenario])).toContain("passed");
});

test.runIf(depth !== "short")("the conformance kit has no failure that is not expected", async () => {
  expect(await conformance(["--suite", "active"])).toMatch(/Total: 1[4-9] passed/);
});
