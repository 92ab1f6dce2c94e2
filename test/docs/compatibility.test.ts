import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/operations.ts";
import { root } from "../support/server-process.ts";
import { built } from "../wires/built.ts";
import { mentions, proofs } from "./proofs.ts";

const operations = operationTable().all;
const nameOf = ({ name, rpc }: Operation): string => name ?? rpc;

/** The operations of v2.md 0.3 and enterprise.md 0, and those of oauth.md that are RPCs. */
const contract = `task.create task.detail task.list task.update task.stop task.delete task.sendMessage task.listMessages task.confirmAction
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
  const link = (operation: Operation) => `[${operation.name ?? operation.method.name}](${proofs[nameOf(operation)] ?? ""})`;
  const rows = [...services].map(([service, own]) => `| \`${service}\` | ${own.map(link).join(", ")} |`);
  return ["| Service | Its operations, each with the test that shows it |", "| --- | --- |", ...rows].join("\n");
}

const [begin, end] = ["<!-- operations: made by test/docs/compatibility.test.ts -->\n", "\n<!-- end of operations -->"];

describe("the README's table of operations", () => {
  test("has every operation of the contract, and all are built", () => {
    const names = operations.map(nameOf);
    expect(contract.filter((name) => !names.includes(name))).toEqual([]);
    expect(operations.filter((operation) => !(nameOf(operation) in built)).map(nameOf)).toEqual([]);
  });

  test("names a test for each operation, and for nothing else", () => {
    expect(Object.keys(proofs).toSorted()).toEqual(operations.map(nameOf).toSorted());
  });

  test.each(operations.map((operation) => ({ name: nameOf(operation), operation })))("$name: its test is there, and calls it", ({
    name,
    operation,
  }) => {
    const file = proofs[name] ?? "";
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(mentions(file, operation), `${file} says nothing of ${name}`).toBe(true);
  });

  test("is what the table of operations, what is built and the tests make it (UPDATE_GOLDEN=1 makes it anew)", () => {
    const path = join(root, "README.md");
    const readme = readFileSync(path, "utf8");
    const [from, to] = [readme.indexOf(begin) + begin.length, readme.indexOf(end)];
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, readme.slice(0, from) + tableOf() + readme.slice(to));
    else expect(readme.slice(from, to)).toBe(tableOf());
  });
});
