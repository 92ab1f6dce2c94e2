import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { leaks, open, third } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ text, earlier }, { read }) {
    assert.equal(read.size, 120, "not all pages were read");
    assert.match(earlier.at(-1) ?? "", new RegExp(`\\b${leaks}\\b`), "the number of leaks is wrong");
    assert.equal(text.replaceAll(/[^\w]/g, ""), third, "the code of page 3 is wrong");
  },
});
