import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ value }, { culprit }) {
    assert.deepEqual(value, { commit: culprit });
  },
});
