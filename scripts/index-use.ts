// `node scripts/index-use.ts [--statements FOLDER] TEST…`: runs test files, and lists the indexes of each
// database that no statement of theirs uses. The statements are added to those in the folder; without a test
// they are read from there.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { postgresPlans, sqlitePlans } from "./index-use/plans.ts";

const { values, positionals: tests } = parseArgs({
  allowPositionals: true,
  options: { statements: { type: "string" } },
});
const folder = resolve(values.statements ?? mkdtempSync(join(tmpdir(), "statements-")));
mkdirSync(folder, { recursive: true });
if (tests.length > 0) {
  const collecting = {
    STATEMENTS: folder,
    NODE_OPTIONS: `--import ${resolve("scripts/index-use/collect.mjs")}`,
  };
  spawnSync("vitest", ["run", ...tests], {
    stdio: ["ignore", 2, 2],
    env: { TEST_POSTGRES: "all", ...process.env, ...collecting },
  });
}

/** Many rows or values have the plan of one. */
const withoutRepetition = (sql: string): string =>
  sql
    .replace(/(\((?:[?, ]|\$\d+)+\))(?:, ?\((?:[?, ]|\$\d+)+\))+/g, "$1")
    .replace(/\bIN \(\?(?:, ?\?)+\)/g, "IN (?)");

const lines = globSync("*.jsonl", { cwd: folder }).flatMap((file) =>
  readFileSync(join(folder, file), "utf8").trim().split("\n"),
);
const statements = [...new Set(lines.map((line) => withoutRepetition(JSON.parse(line))))].filter((sql) =>
  /^\s*(?:SELECT|WITH|UPDATE|DELETE|INSERT)\b/i.test(sql),
);
for (const [database, explain] of [
  ["sqlite", sqlitePlans] as const,
  ["postgresql", postgresPlans] as const,
]) {
  const { indexes, plans } = await explain(statements);
  console.log(
    `${database}: ${plans.length} plans of ${statements.length} statements, ${indexes.length} indexes`,
  );
  for (const name of indexes.filter((each) => !plans.some((plan) => plan.includes(each))))
    console.log(`unused  ${name}`);
}
