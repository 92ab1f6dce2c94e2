import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { runProgram } from "../support/programs.ts";
import { defineTask } from "../support/task.ts";

const read = (path: string) => readFile(new URL(`fixtures/${path}`, import.meta.url));

export default defineTask({
  async check({ files }) {
    const program = {
      "duration.mjs": files.get("duration.mjs") ?? "",
      "duration-test.mjs": await read("inputs/duration-test.mjs"),
      "hidden.mjs": await read("hidden.mjs"),
    };
    assert.equal(await runProgram(program, ["duration-test.mjs"]), "passed\n");
    assert.equal(await runProgram(program, ["hidden.mjs"]), "all passed\n");
  },
});
