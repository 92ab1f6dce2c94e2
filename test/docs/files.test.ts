import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { openFilePlatform } from "../files/files-rig.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/files.md");
const blocks = blocksIn(page, "sh");

test("the commands of docs/guides/files.md upload a file, read it, delete it, and verify the bytes of another", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using town = await openFilePlatform("sqlite", { env: { PORT: `${port}`, BASE_URL: address } });
  const { key } = await town.service.person();
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  const said = await Promise.all(
    blocks.map((block) => shell(`cd ${folder}; ${block}`, { ATP_URL: address, ATP_KEY: key })),
  );
  rmSync(folder, { recursive: true });
  const answers = said.map((text) => text.split(/(?<=\})(?=\{)/).map((json) => JSON.parse(json)));
  expect(answers).toMatchObject([
    [
      { ok: true, file: { status: "uploaded", bytes: 19 } },
      { ok: true, file: { status: "uploaded", bytes: 19, content_type: "text/csv" } },
      { ok: true },
    ],
    [{ ok: true, file: { status: "uploaded", bytes: 17 } }],
  ]);
});

test("docs/guides/files.md lists the refused extensions", () => {
  const [, listed = ""] = /refused \((exe,[^)]*)\)/s.exec(page) ?? [];
  const [, known = ""] =
    /new Set\(\s*"([a-z0-9 ]+)"/s.exec(readFileSync("src/core/files/filename.ts", "utf8")) ?? [];
  expect(listed.split(/,\s+/)).toEqual(known.split(" "));
});
