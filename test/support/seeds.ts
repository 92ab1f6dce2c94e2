// Vitest's setup file: property tests use the run's seed, so that `npm test` is the same each time.
import fc from "fast-check";
import { seed } from "./depth.ts";

fc.configureGlobal({ seed });
