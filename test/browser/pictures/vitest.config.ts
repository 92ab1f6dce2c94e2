import { defineConfig } from "vitest/config";
import { testMs } from "../../support/patience.ts";

/** `npm run pictures`: it checks nothing. `npm test` does not run it. */
export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/run.ts"],
    setupFiles: ["test/support/seeds.ts"],
    include: ["test/browser/pictures/pictures.ts"],
    pool: "forks",
    // As in vitest.config.ts: src/gen leads elsewhere whenever something is generated.
    fsModuleCache: false,
    testTimeout: testMs,
    hookTimeout: testMs,
  },
});
