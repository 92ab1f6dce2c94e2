import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { StoreOptions } from "../../src/store/open.ts";
import type { OnCached } from "../../src/store/read-cache.ts";
import { depth, seed } from "./depth.ts";

/** One of this many files, chosen by the seed, checks its caches in `npm test`; in a deep run all files do. */
const parts = 4;

/** The answers that were compared in this process. */
export const compared = { answers: 0 };

/** Throws for an answer of the cache that is not what the database has. The run fails even if the caller handles the error. */
export const expectStored: OnCached = (sql, cached, stored) => {
  compared.answers += 1;
  if (isDeepStrictEqual(cached, stored)) return;
  const text = `the cache answered ${JSON.stringify(cached)}, and the database ${JSON.stringify(stored)}: ${sql}`;
  void Promise.reject(new Error(text));
  throw new Error(text);
};

/** Options of a store whose cached answers are compared with the database: with TEST_CACHE=check in every file. */
export function checkedCache(): Pick<StoreOptions, "onCached"> {
  const letters = [...(expect.getState().testPath ?? "")].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), seed);
  const isChecked = process.env["TEST_CACHE"] === "check" || depth !== "short" || letters % parts === 0;
  return isChecked ? { onCached: expectStored } : {};
}
