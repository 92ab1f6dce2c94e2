import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "test/support/postgres.ts",
    pool: "forks",
    maxWorkers: 2,
    // It remembers where links led to, and src/gen leads elsewhere whenever something is generated.
    fsModuleCache: false,
    projects: [
      {
        test: {
          name: "rooms",
          include: ["test/**/*.test.ts"],
          exclude: ["test/commands/**"],
          sequence: { groupOrder: 0 },
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          // Whole processes, several at a time, some of them timed: nothing else runs beside them.
          name: "commands",
          include: ["test/commands/**/*.test.ts"],
          sequence: { groupOrder: 1 },
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
