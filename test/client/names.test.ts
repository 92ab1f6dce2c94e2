import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { root } from "../support/server-process.ts";

const [typescript, python] = [
  join(root, "packages/client/src"),
  join(root, "packages/python/src/agent_task_platform"),
];

/** The names that a module exports. A namespace has its name before each: `rpc.Task`. */
function exportsOf(path: string): readonly string[] {
  const { staticExports } = parseSync(path, readFileSync(path, "utf8")).module;
  return staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ exportName, importName, moduleRequest, isType }) => {
      const name = exportName.name ?? "";
      const from = moduleRequest && join(dirname(path), moduleRequest.value);
      if (from && importName.kind === "AllButDefault") return exportsOf(from);
      if (from && importName.kind === "All")
        return exportsOf(from).map((each) => `${name}.${each.replace("type ", "")}`);
      return [`${isType ? "type " : ""}${name}`];
    }),
  );
}

test("names and types that the TypeScript client exports are those of the golden file", () => {
  const lines = ["index", "node", "testing", "worker"].flatMap((entry) =>
    exportsOf(join(typescript, `${entry}.ts`)).map((name) => `${entry} ${name}`),
  );
  expect(lines).toContain("index createClient");
  expectGolden("names-typescript.txt", `${lines.toSorted().join("\n")}\n`);
});

test("names and types that the Python client exports are those of the golden file", () => {
  const lines = [
    "",
    "errors",
    "testing",
    "webhooks",
    "worker",
    "types/actions",
    "types/rpc",
    "types/v2",
    "types/worker",
  ].flatMap((entry) => {
    const file = [join(python, `${entry}.py`), join(python, entry, "__init__.py")].find(existsSync) ?? "";
    const text = readFileSync(file, "utf8");
    const [, listed] = /^__all__ = \[([^\]]*)\]/m.exec(text) ?? [];
    const names =
      listed === undefined
        ? text.matchAll(/^(?:class|def) ([A-Za-z]\w*)|^([A-Z]\w*): TypeAlias/gm)
        : listed.matchAll(/"(\w+)"/g);
    return [...names].map(
      ([, name, alias]) =>
        `${["agent_task_platform", ...entry.split("/")].filter(Boolean).join(".")} ${name ?? alias}`,
    );
  });
  expect(lines).toContain("agent_task_platform Client");
  expectGolden("names-python.txt", `${lines.toSorted().join("\n")}\n`);
});
