import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openFilePlatform } from "../files/files-rig.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { untilStatus } from "../support/until.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const name = "docs/operate/siem.md";

/** Ids and times differ each time. */
const settled = (text: string): string =>
  text
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "0b9f2f1e-3c55-4f0e-9d3a-5f1f9a7c2e10")
    .replace(/(?<![A-Za-z0-9])[0-9A-HJKMNP-TV-Z]{26}(?![A-Za-z0-9])/g, "01R86ZES3R000001R0183QFZZX")
    .replace(/("(?:team_uid|teamUid)": )"[^"]+"/g, '$1"Bn8Qd2LkTz5hXw3BsRmYpC"')
    .replace(/(?<![A-Za-z0-9])[2-9A-HJ-NP-Za-km-z]{22}(?![A-Za-z0-9])/g, (id) =>
      id.startsWith("Bn8Qd2") ? id : "An8Qd2LkTz5hXw3BsRmYpC",
    )
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2031-04-03T08:00:00.120Z");

test("the commands of docs/operate/siem.md request an archive, wait, fetch and unpack it, and produce its sample", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using town = await openFilePlatform("sqlite", {
    idle: false,
    env: { PORT: `${port}`, BASE_URL: address, SIEM_PAYLOADS: "on" },
  });
  const ann = await town.service.person();
  const { key } = await town.service.person({ as: ann, with: ann, kind: "siem" });
  const { body } = await ann.v2("task.create", {
    message: { content: "[[tool browser_open]] [[say Done.]]" },
  });
  await untilStatus(town.service.store, body["task_id"], "stopped");
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const commands = blocksIn(readPage(name), "bash").join("\n");
  await shell(`cd ${folder}\n${commands}`, { ATP_URL: address, ATP_KEY: key });
  const lines = readFileSync(join(folder, "unpacked", "events.ndjson"), "utf8")
    .split("\n")
    .slice(0, -1);
  rmSync(folder, { recursive: true });
  const call = lines.map((line) => JSON.parse(line)).find(({ event_name }) => event_name === "TOOL_CALL");
  const sample = `${settled(JSON.stringify(call, null, 2))}\n`;
  if (process.env["UPDATE_GOLDEN"] === "1") {
    const page = readPage(name);
    writeFileSync(
      join(root, name),
      page.replace(/^```json\n[\s\S]*?^```$/m, () => `\`\`\`json\n${sample}\`\`\``),
    );
  }
  expect(blocksIn(readPage(name), "json")).toEqual([sample]);
});
