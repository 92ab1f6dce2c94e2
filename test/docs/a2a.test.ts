import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/a2a.md");

test("docs/guides/a2a.md: its commands print the texts below them", async () => {
  await using service = await openService();
  const { key } = await service.person();
  const commands = blocksIn(page, "sh");
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const expected = /^# (.+)$/m.exec(command)?.[1] ?? "no text";
    expect(
      await shell(command.replace("hooks.example.com", "127.0.0.1"), { ATP_URL: service.url, ATP_KEY: key }),
    ).toContain(expected);
  }
  for (const text of blocksIn(page, "json")) expect(() => JSON.parse(text)).not.toThrow();
});
