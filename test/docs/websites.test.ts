import { readFileSync } from "node:fs";
import { expect, vi } from "vitest";
import { siteBytesMax, siteFilesMax } from "../../src/core/websites/checkpoint.ts";
import { checkpointsMax } from "../../src/core/websites/save.ts";
import { freePort } from "../support/free-port.ts";
import { hangMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { openSiteRig } from "../websites/site.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/websites.md");

test("the commands of docs/guides/websites.md publish a site, and read it", async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  await using town = await openSiteRig("sqlite", {
    env: { PORT: `${port}`, BASE_URL: address, SITES_DOMAIN: "localhost" },
  });
  const { key } = await town.service.person();
  const known = { ATP_URL: address, ATP_KEY: key, TASK: "", HOST: "" };
  const commands = blocksIn(page, "sh").flatMap((block) =>
    block.split(/^(?=curl )/m).filter((text) => text.startsWith("curl")),
  );
  for (const command of commands) {
    const part = (/^# (.*)$/m.exec(command)?.[1] ?? "").replaceAll(" ", "");
    let answer = "";
    // A publication takes a moment.
    await vi.waitUntil(
      async () => {
        answer = await shell(command, known);
        return answer.replaceAll(" ", "").includes(part);
      },
      { timeout: hangMs, interval: 50 },
    );
    known.TASK ||= /"task_id":"([^"]+)"/.exec(answer)?.[1] ?? "";
    known.HOST ||= /"http:\/\/([^"/]+)"/.exec(answer)?.[1] ?? "";
  }
  expect([known.TASK, known.HOST]).toEqual([
    expect.stringMatching(/^\w{22}$/),
    expect.stringMatching(/^[a-z2-7]{20}\.localhost:\d+$/),
  ]);
});

test("docs/guides/websites.md has the current bounds", () => {
  const shown = page.replaceAll(",", "");
  expect(shown).toContain(
    `| files of a checkpoint | ${siteFilesMax} with ${siteBytesMax / 1024 ** 2} MB together |`,
  );
  expect(shown).toContain(
    `| checkpoints of a site | the newest ${checkpointsMax} and the one that is live |`,
  );
});

test("docs/operate/security.md shows the policy in the header", () => {
  const rights = /"(downloads [a-z -]+)"/.exec(readFileSync("src/websites/answer.ts", "utf8"))?.[1] ?? "";
  const sandbox = rights.split(" ").map((right) => `allow-${right}`);
  expect(readPage("docs/operate/security.md")).toContain(
    `sandbox ${sandbox.join(" ")}; frame-ancestors 'self'; base-uri 'self'; object-src 'self'`,
  );
});
