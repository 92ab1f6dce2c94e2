import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openTestStore } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/operate/audit.md");

test("the commands of docs/operate/audit.md list and download the log, and the program there checks its chain", async () => {
  await using database = await openTestStore("sqlite");
  await using service = await openService({ over: database, idle: true });
  const owner = await service.person();
  for (const name of ["Garden", "Pond", "Wäld \u2028"]) await owner.v2("project.create", { name });
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const open = async () =>
    (await runDirectly(database, "SELECT id FROM audit_event WHERE seq IS NULL")).length;
  await expect.poll(open).toBe(0);
  const [list = "", download = "", ocsf = ""] = blocksIn(page, "sh");
  const run = (lines: string) =>
    shell(`cd ${folder}; ${lines}`, { ATP_URL: service.url, ATP_KEY: owner.key });
  expect(JSON.parse(await run(list))).toMatchObject({ ok: true, data: [{ seq: 3 }, { seq: 2 }, { seq: 1 }] });
  expect((await run(download)).trim()).toBe("3");
  const events = (await run(ocsf)).trim().split("\n");
  expect(events.map((line) => JSON.parse(line))).toMatchObject(
    Array(3).fill({ class_uid: 6003, activity_name: "Create" }),
  );
  const [program = ""] = blocksIn(page, "js");
  writeFileSync(join(folder, "check.mjs"), program);
  expect((await run("node check.mjs")).trim()).toBe(
    (await service.store.auditChain.head(owner.spaceId))?.hash,
  );
  await expect(run("sed -i s/Garden/Desert/ audit.ndjson; node check.mjs")).rejects.toThrow(
    "row 1 is not as it was sealed",
  );
  rmSync(folder, { recursive: true });
});
