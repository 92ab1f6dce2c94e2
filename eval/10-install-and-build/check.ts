import assert from "node:assert/strict";
import { runProgram } from "../support/programs.ts";
import { defineTask } from "../support/task.ts";
import { digests, open } from "./fixtures/world.ts";

export default defineTask({
  open,
  async check({ files }) {
    const bundle = files.get("bundle.mjs") ?? "";
    assert.match(bundle.toString(), /^\/\/ stamped by stamp 1\.0\.0\n/, "the package is not in the bundle");
    assert.equal(await runProgram({ "bundle.mjs": bundle }, ["bundle.mjs"]), `${digests.join("\n")}\n`);
  },
});
