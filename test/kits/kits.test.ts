import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { depth } from "../support/depth.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";

const run = promisify(execFile);

/**
 * What the platform does not have: a WebSocket, compaction and tools of the caller
 * (docs/reference/compatibility.md).
 */
const leftOut = /^(websocket-.*|compact-.*|tool-calling)$/;

describe.skipIf(depth === "short")("clients of the Responses API that validate", { timeout: 240_000 }, () => {
  const rig = taskRig();
  const folder = mkdtempSync(join(tmpdir(), "kits-"));
  beforeAll(async () => {
    cpSync(join(root, "test/kits/packages"), folder, { recursive: true });
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("read every answer", async () => {
    const { stdout } = await run(process.execPath, ["checks.mjs"], {
      cwd: folder,
      env: { ...process.env, ATP_URL: rig.service.url, ATP_KEY: rig.ann.key },
    });
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => !line.startsWith("ok "))).toEqual([]);
    expect(lines.length).toBeGreaterThanOrEqual(15);
  });

  // It is in no registry: `--open-responses` names a checkout with its packages; `bun` is on the path.
  test.skipIf(process.env["OPEN_RESPONSES"] === undefined)(
    "pass the checks of Open Responses, without those that are left out",
    async () => {
      const check = [
        "run",
        "bin/compliance-test.ts",
        "--json",
        "--base-url",
        `${rig.service.url}/v1`,
        "--api-key",
        rig.ann.key,
      ];
      const cwd = process.env["OPEN_RESPONSES"];
      // It ends with 1 when a check failed.
      const { stdout } = await run("bun", check, { cwd }).catch((thrown: { stdout: string }) => thrown);
      const { results } = JSON.parse(stdout) as { results: { id: string; status: string }[] };
      expect(results.filter(({ id, status }) => status !== "passed" && !leftOut.test(id))).toEqual([]);
      expect(results.filter(({ status }) => status === "passed").length).toBeGreaterThanOrEqual(7);
    },
  );
});
