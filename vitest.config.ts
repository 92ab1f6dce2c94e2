import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { isWholeRun, nightlyPatterns } from "./test/deep/nightly.ts";
import { depth } from "./test/support/depth.ts";
import { hangMs, testMs } from "./test/support/patience.ts";

/**
 * Files that need a separate process, each with its reason. The others share one per worker, which is a
 * fourth faster.
 */
const isolated = [
  // They replace a module of Node's, which others have imported already, or TMPDIR.
  "test/runtime/model/tools/read-back.test.ts",
  "test/runtime/model/tools/sandbox.test.ts",
  // It adds a column to the schema that all modules read.
  "test/store/new-column.test.ts",
  // It replaces Socket.prototype.connect and counts the connections of the whole process.
  "test/webhooks/hostile.test.ts",
  // They bound the memory of their process.
  "test/sign-in/stored-password.test.ts",
  "test/websites/bytes.test.ts",
];
const commands = [
  "test/commands/**/*.test.ts",
  "test/docs/budgets.test.ts",
  "test/docs/quickstart-operator.test.ts",
];
const faults = "test/faults/faults.test.ts";
const hostile = "test/hostile/**/*.test.ts";
/** `npm test` leaves these to the nightly run. */
const left = depth === "short" && isWholeRun(process.argv.slice(2)) ? nightlyPatterns : [];

// Workers and the processes that tests start compile a module once; copies of the checkout have the same
// cache.
process.env["NODE_COMPILE_CACHE"] ??= resolve("node_modules/.cache/compiled");
process.env["NODE_COMPILE_CACHE_PORTABLE"] ??= "1";

/**
 * Guards against hangs, not assertions: a machine may be ten times slower than the one that a test was
 * written on.
 */
const patient = { testTimeout: testMs, hookTimeout: testMs, expect: { poll: { timeout: hangMs } } };
/**
 * Node loads the files itself, from its compile cache: Vite would transform 500 files for a test of one
 * operation. It cannot replace modules.
 */
const byNode = { experimental: { viteModuleRunner: false, nodeLoader: false } };
const setupFiles = ["test/support/seeds.ts", "test/support/traffic.ts"];

export default defineConfig({
  test: {
    globalSetup: ["test/support/run.ts"],
    pool: "forks",
    // One more than the two cores that CI has, because tests of processes wait for much of their time.
    maxWorkers: 3,
    // It remembers where links led to, and src/gen leads elsewhere whenever something is generated.
    fsModuleCache: false,
    projects: [
      {
        test: {
          ...patient,
          ...byNode,
          name: "rooms",
          include: ["test/**/*.test.ts"],
          exclude: [...commands, faults, hostile, ...isolated, ...left],
          isolate: false,
          setupFiles: [...setupFiles, "test/support/quick-scrypt.ts"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...patient,
          name: "isolated",
          include: isolated,
          exclude: left,
          setupFiles,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...patient,
          ...byNode,
          // The short form of `npm run test:faults`: four servers and a database that are killed and paused
          // by the second. It mostly waits and takes longest, so it is the first of its group: a group runs
          // its projects in the order of their names.
          name: "faults",
          include: [faults],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...patient,
          ...byNode,
          // Several processes at a time, some of them timed; they share a copy of the checkout.
          name: "processes",
          include: commands,
          exclude: left,
          isolate: false,
          setupFiles,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          // A server under attack, whose answers to another process are timed: nothing else runs at the same
          // time.
          name: "hostile",
          include: [hostile],
          exclude: left,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
