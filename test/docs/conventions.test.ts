import { describe, expect, test } from "vitest";
import { blocksIn, readPage, shell } from "./page.ts";
import { sharedServer } from "./shared-server.ts";

/** The first block of commands of a page that contains a text. */
const blockOf = (page: string, text: string): string =>
  blocksIn(readPage(page), "sh")
    .find((block) => block.includes(text))
    ?.trim() ?? "";

describe("the pages about calls", () => {
  test("docs/reference/conventions.md: strict handling refuses a misspelt member with the answer on the page", async () => {
    const server = await sharedServer();
    const [command = "", answer = ""] = blockOf("docs/reference/conventions.md", "handling=strict").split(
      "\n",
    );
    expect(await shell(command, { ATP_KEY: server.key, ATP_URL: server.url })).toContain(
      answer.replace(/^# /, ""),
    );
  });

  test("docs/guides/v2.md: the call with an Idempotency-Key creates a task, and another one with the next key", async () => {
    const server = await sharedServer();
    const command = blockOf("docs/guides/v2.md", "Idempotency-Key");
    const create = async () => JSON.parse(await shell(command, { ATP_KEY: server.key, ATP_URL: server.url }));
    const [first, second] = [await create(), await create()];
    expect([first, second]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(second.task_id).not.toBe(first.task_id);
  });
});
