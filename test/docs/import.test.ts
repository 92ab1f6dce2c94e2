import { expect } from "vitest";
import { putSourceTask } from "../imports/import-rig.ts";
import { freePort } from "../support/free-port.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const openAt = async () => {
  const port = `${await freePort()}`;
  return openService({ idle: true, env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}` } });
};

test("docs/guides/import.md: every command answers as the comment after it says", async () => {
  await using source = await openAt();
  await using target = await openAt();
  const [ann, bo] = [await source.person(), await target.person()];
  await putSourceTask(source, ann, [
    { type: "user_message", payload: { content: "Hello", messageType: "text" } },
  ]);
  const known = { OLD: source.url, SOURCE_KEY: ann.key, ATP_URL: target.url, ATP_KEY: bo.key, NO_COLOR: "1" };
  const commands = blocksIn(readPage("docs/guides/import.md"), "sh").flatMap((block) =>
    block.split(/\n(?=[^#\n])/),
  );
  expect(commands.length).toBe(4);
  for (const command of commands) {
    const [, expected = ""] = /^# (.*)$/m.exec(command) ?? [];
    expect(await shell(command, known), command).toContain(expected);
  }
});
