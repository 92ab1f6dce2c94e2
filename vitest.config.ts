import { defineConfig } from "vitest/config";
import { hangMs, testMs } from "./test/support/patience.ts";

/** Guards against hangs, not assertions: a machine may be ten times slower than the one that a test was written on. */
const patient = { testTimeout: testMs, hookTimeout: testMs, expect: { poll: { timeout: hangMs } } };

export default defineConfig({
  test: {
    globalSetup: ["test/support/tools.ts", "test/support/postgres.ts"],
    pool: "forks",
    maxWorkers: 2,
    // It remembers where links led to, and src/gen leads elsewhere whenever something is generated.
    fsModuleCache: false,
    projects: [
      {
        test: {
          ...patient,
          name: "rooms",
          include: ["test/**/*.test.ts"],
          exclude: ["test/commands/**", "test/faults/faults.test.ts", "test/hostile/**"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...patient,
          // Whole processes, several at a time, some of them timed: nothing else runs beside them.
          name: "commands",
          include: ["test/commands/**/*.test.ts"],
          sequence: { groupOrder: 1 },
          fileParallelism: false,
        },
      },
      {
        test: {
          ...patient,
          // The short form of `npm run test:faults`: four servers and a database that are killed and paused by the second.
          name: "faults",
          include: ["test/faults/faults.test.ts"],
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          // A server under attack, whose answers to another process are timed: nothing else runs beside it.
          name: "hostile",
          include: ["test/hostile/**/*.test.ts"],
          sequence: { groupOrder: 3 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
