import { globSync, readFileSync } from "node:fs";
import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { operationTable } from "../../src/pipeline/operations.ts";

/** The names of all fields of a message and of those in it. */
function fieldsOf(desc: DescMessage, seen = new Set<DescMessage>()): string[] {
  if (seen.has(desc)) return [];
  seen.add(desc);
  return desc.fields.flatMap((field) => [
    field.localName,
    ...(field.message ? fieldsOf(field.message, seen) : []),
  ]);
}

test("no operation takes the operator flag: only a command sets it", () => {
  const takes = operationTable().all.filter(({ method }) => fieldsOf(method.input).includes("operator"));
  expect(takes.map(({ rpc }) => rpc)).toEqual([]);
  const callers = globSync("{src,scripts,cli}/**/*.ts", {
    exclude: (name) => name.startsWith("src/gen"),
  }).filter((path) => /\bsetOperator\(|accounts\/operator\.ts/.test(readFileSync(path, "utf8")));
  expect(callers.toSorted()).toEqual(
    [
      "cli/server/user.ts",
      "src/core/accounts/account.ts",
      "src/core/accounts/operator.ts",
      "src/store/rows/account.ts",
    ].toSorted(),
  );
});
