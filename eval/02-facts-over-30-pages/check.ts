import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { answer, open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ value }, { web }) {
    assert.equal(new Set(web.visits).size, 31, "not all pages were read");
    assert.deepEqual(value, answer);
  },
});
