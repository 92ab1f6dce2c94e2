import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { untilStatus } from "../support/until.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const name = "docs/operate/export.md";

/** Ids and times differ each time; of each kind the page shows the first one. */
function settled(text: string): string {
  const known = new Map<string, string>();
  const letters = (found: string, of: string, made: (index: number) => string) => {
    const key = `${of}${found}`;
    const index = [...known.keys()].filter((one) => one.startsWith(of)).length;
    known.set(key, known.get(key) ?? made(index));
    return known.get(key) ?? "";
  };
  return text
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, (found) =>
      letters(found, "uuid", () => "0b9f2f1e-3c55-4f0e-9d3a-5f1f9a7c2e10"),
    )
    .replace(/(?<![A-Za-z0-9])[2-9A-HJ-NP-Za-km-z]{22}(?![A-Za-z0-9])/g, (found) =>
      letters(found, "id", (index) => `${"ABCDEFGH".charAt(index)}n8Qd2LkTz5hXw3BsRmYpC`),
    )
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2031-04-02T08:00:00.120Z")
    .replace(/"timestamp": \d+/g, '"timestamp": 1932969600120');
}

test("the commands of docs/operate/export.md request an archive, wait, fetch, verify and unpack it, and produce its sample", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using town = await openFilePlatform("sqlite", {
    idle: false,
    env: { PORT: `${port}`, BASE_URL: address },
  });
  const ann = await town.service.person();
  const { id: file_id } = await uploadFile(town, ann, "Water the garden.", "notes.txt");
  const content = [
    { type: "text", text: "[[say Done.]]" },
    { type: "file", file_id },
  ];
  const { body } = await ann.v2("task.create", { message: { content }, title: "Q3 memo" });
  await untilStatus(town.service.store, body["task_id"], "stopped");
  const [member] = await town.service.store.archives.memberships(ann.spaceId, ann.accountId);
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const variables = { ATP_URL: address, ATP_KEY: ann.key, EMAIL: member?.email ?? "" };
  await shell(`cd ${folder}\n${blocksIn(readPage(name), "sh").join("\n")}`, variables);
  const text = readFileSync(join(folder, "unpacked", "session_info.json"), "utf8");
  rmSync(folder, { recursive: true });
  const sample = `${settled(JSON.stringify(JSON.parse(text)[0], null, 2))}\n`;
  if (process.env["UPDATE_GOLDEN"] === "1") {
    const page = readPage(name);
    writeFileSync(
      join(root, name),
      page.replace(/^```json\n[\s\S]*?^```$/m, () => `\`\`\`json\n${sample}\`\`\``),
    );
  }
  expect(blocksIn(readPage(name), "json")).toEqual([sample]);
});
