import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

test("docs/guides/openai.md shows the life of a response, and of a file, by its commands", async () => {
  await using service = await openService();
  const { key } = await service.person();
  const known: Record<string, string> = { ATP_URL: service.url, ATP_KEY: key };
  const commands = blocksIn(readPage("docs/guides/openai.md"), "sh").flatMap(
    (block) => block.match(/^[^#][\s\S]*?\n(?:#.*(?:\n|$))+/gm) ?? [],
  );
  expect(commands).toHaveLength(12);
  for (const command of commands) {
    const answer = (await shell(command, known)).replaceAll('":', '": ');
    for (const [, part = ""] of command.matchAll(/^# (.*)$/gm)) expect(answer, command).toContain(part);
    const [, id] = /^\{"id": "([^"]+)"/.exec(answer) ?? [];
    if (id !== undefined) known["ID"] = id;
  }
});
