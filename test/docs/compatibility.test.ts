import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { entryOf, registry } from "../operations/registry.ts";
import { root } from "../support/server-process.ts";

const operations = operationTable().all;
const nameOf = ({ name, rpc }: Operation): string => name ?? rpc;

/** The operations of spec/api.md 0.3 and spec/enterprise.md 0, and the RPCs of oauth.md. */
const specified =
  `task.create task.detail task.list task.update task.stop task.delete task.sendMessage task.listMessages task.confirmAction
project.create project.list file.upload file.detail file.delete webhook.create webhook.list webhook.delete webhook.publicKey skill.list
connector.list agent.list agent.detail agent.update browser.onlineList usage.list usage.availableCredits usage.teamStatistic usage.teamLog
website.status website.listCheckpoints website.publish website.update user.me
team.user.list team.user.detail team.user.create team.user.update team.user.delegate team.user.reclaim team.user.rename team.user.remove
enterprise.export.create enterprise.export.detail enterprise.export.list enterprise.export.downloadUrl enterprise.task.list
enterprise.compliance.export.create enterprise.compliance.export.detail enterprise.compliance.export.downloadUrl
team.asset.list team.asset.update_scope
dataexport.v1.EnterpriseDataExportService/ListTasks dataexport.v1.EnterpriseDataExportService/CreateExport
dataexport.v1.EnterpriseDataExportService/GetExport dataexport.v1.EnterpriseDataExportService/ListExports
dataexport.v1.EnterpriseDataExportService/GetDownloadURL`.split(/\s+/);

/** A row for each service: its operations, each with a link to its test. */
function tableOf(): string {
  const services = Map.groupBy(operations, ({ method }) => method.parent.typeName);
  const link = (operation: Operation) =>
    `[${operation.name ?? operation.method.name}](../../${entryOf(operation).proof})`;
  const rows = [...services].map(([service, own]) => `| \`${service}\` | ${own.map(link).join(", ")} |`);
  return ["| Service | Its operations, each with the test that shows it |", "| --- | --- |", ...rows].join(
    "\n",
  );
}

const [begin, end] = [
  "<!-- operations: made by test/docs/compatibility.test.ts -->\n",
  "\n<!-- end of operations -->",
];

describe("the table of operations and their tests", () => {
  test("has every operation of the specification", () => {
    const names = operations.map(nameOf);
    expect(specified.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("names a test for each operation, and no others", () => {
    expect([...registry.keys()].toSorted()).toEqual(operations.map(({ rpc }) => rpc).toSorted());
  });

  test.each(
    operations.map((operation) => ({ name: nameOf(operation), operation })),
  )("$name: its test is there, and calls it", ({ name, operation }) => {
    const file = entryOf(operation).proof;
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(mentions(file, operation), `${file} says nothing of ${name}`).toBe(true);
  });

  test("equals the table built from the operation table and the registry of tests (UPDATE_GOLDEN=1 rewrites it)", () => {
    const path = join(root, "docs/internals/operation-tests.md");
    const page = readFileSync(path, "utf8");
    const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
    if (process.env["UPDATE_GOLDEN"] === "1")
      writeFileSync(path, page.slice(0, from) + tableOf() + page.slice(to));
    else expect(page.slice(from, to)).toBe(tableOf());
  });
});

/** Whether a test, or its imports from test/, calls an operation by one of its names. */
function mentions(file: string, operation: Operation): boolean {
  const { method, name, rpc } = operation;
  const word = new RegExp(
    `(?<![\\w.])(${method.localName}|${method.name})(?!\\w)|["/.]${method.localName}\\b`,
  );
  // Helpers of a family of operations have only the last part.
  const last = /^\w+\.\w+\.(\w+)$/.exec(name ?? "")?.[1];
  return [file, ...importsOf(file)].some((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return (
      (name !== null && text.includes(name)) ||
      (last !== undefined && text.includes(`"${last}"`)) ||
      text.includes(rpc) ||
      word.test(text)
    );
  });
}

/** The paths of a test's relative imports that are tests' files too. */
function importsOf(file: string): readonly string[] {
  const found = readFileSync(join(root, file), "utf8").matchAll(/from "(\.{1,2}\/[^"]+)"/g);
  return [...found].flatMap(([, path = ""]) => {
    const imported = join(dirname(file), path);
    return imported.startsWith("test/") &&
      !imported.startsWith("test/support/") &&
      existsSync(join(root, imported))
      ? [imported]
      : [];
  });
}
