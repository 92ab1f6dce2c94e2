// `npm run test:cache [-- --files N] [--seed S]`: all test files, with every answer of SQLite's cache compared with the database;
// with `--files` only N of those that open a store in their process, chosen by the seed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { seededRandom } from "../faults/harness/seeded-random.ts";

const { values } = parseArgs({ options: { files: { type: "string" }, seed: { type: "string", default: "1" } } });
const random = seededRandom(`cache ${values.seed}`);
const opens = /\b(openService|openTestStore|storeOfSuite)\(/;
const ordered = globSync("test/**/*.test.ts")
  .filter((path) => opens.test(readFileSync(path, "utf8")))
  .toSorted()
  .map((path) => ({ path, place: random.below(2 ** 30) }))
  .toSorted((a, b) => a.place - b.place);
const chosen = values.files === undefined ? ["test/"] : ordered.slice(0, Number(values.files)).map(({ path }) => path);
const env = { ...process.env, TEST_CACHE: "check", TEST_SEED: values.seed };
const [code] = await once(
  spawn("vitest", ["run", ...chosen, "--reporter=default"], { stdio: ["ignore", "inherit", "inherit"], env }),
  "close",
);
process.exitCode = code ?? 1;
