import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";

export default defineTask({
  check({ value }) {
    assert.deepEqual(value, {
      ...{ number: "HF-2207-18", date: "2026-08-14" },
      ...{ net: 260, tax: 49.4, total: 309.4, currency: "EUR" },
    });
  },
});
