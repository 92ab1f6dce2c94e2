import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { root } from "../support/server-process.ts";

test("npm run fuzz sends the requested number of requests to a separate platform", async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ["test/fuzz/main.ts", "--seed", "1", "--runs", "40"],
    {
      cwd: root,
    },
  );
  expect(`${stdout}${stderr}`).toMatch(/40 requests in .*nothing to complain about/s);
});
