import assert from "node:assert/strict";
import { runProgram } from "../support/programs.ts";
import { defineTask } from "../support/task.ts";
import { unzip } from "../support/zip.ts";
import { articles, open, program, rates } from "./fixtures/world.ts";

export default defineTask({
  open,
  async check({ files }) {
    const changes = await unzip(files.get("changes.zip") ?? Buffer.alloc(0));
    assert.ok(changes.size <= 10, "more than ten files are changed");
    const changed = { ...program, ...Object.fromEntries(changes) };
    const run = (...line: readonly string[]) => runProgram(changed, ["main.mjs", ...line]);
    const { name, cents } = articles[42] ?? { name: "", cents: 0 };
    const price = (code: string, rate: number) => `${((cents * 3 * rate) / 100_000).toFixed(2)} ${code}\n`;
    assert.equal(await run(name, "3"), price("EUR", 1_000));
    assert.equal(await run(name, "3", "--currency", "SEK"), price("SEK", rates["SEK"] ?? 0));
    assert.equal(await run("--currency", "USD", name, "3"), price("USD", rates["USD"] ?? 0));
    await assert.rejects(run(name, "3", "--currency", "XYZ"), (fault: { code?: number; stderr?: string }) => {
      assert.equal(fault.code, 2);
      for (const code of Object.keys(rates)) assert.match(fault.stderr ?? "", new RegExp(code));
      return true;
    });
  },
});
