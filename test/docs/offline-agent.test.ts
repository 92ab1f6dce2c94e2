import { beforeAll, describe, expect, test } from "vitest";
import { readDirectives } from "../../src/runtime/agents/offline/reading.ts";
import { kindsTable } from "./kinds-table.ts";
import { blocksIn, readPage, shell } from "./page.ts";
import { type SharedServer, sharedServer } from "./shared-server.ts";

const page = readPage("docs/guides/offline-agent.md");

/** A command of the page, and the parts of its answer that the comments after it name. */
interface Command {
  readonly text: string;
  readonly parts: readonly string[];
}

const commandsIn = (text: string): readonly Command[] =>
  blocksIn(text, "sh").flatMap((block) =>
    [...block.matchAll(/^curl .*\n(?:[ ].*\n)*((?:# .*\n)*)/gm)].map(([all, comments = ""]) => ({
      text: all.slice(0, all.length - comments.length),
      parts: comments.split("\n").flatMap((comment) => comment.slice(2) || []),
    })),
  );

const sections = page
  .split(/^## /m)
  .map((text, i) => ({ title: i === 0 ? "The offline agent" : text.split("\n", 1)[0], text }));
const withCommands = sections
  .map(({ title, text }) => ({ title, commands: commandsIn(text) }))
  .filter(({ commands }) => commands.length > 0);

describe("the page of the offline agent", () => {
  let server: SharedServer;
  beforeAll(async () => {
    server = await sharedServer();
  });

  /** How a reader gets `$EVENT`. */
  const waitAndRead = commandsIn(page.slice(page.indexOf("`$EVENT` is")))
    .slice(1, 3)
    .map(({ text }) => ({ text, parts: [] }));

  /** A reader at a terminal, who copies ids from answers into variables as the page says. */
  function reader() {
    const known = { ATP_KEY: server.key, ATP_URL: server.url, TASK: "", EVENT: "", URL: "" };
    async function play({ text, parts }: Command): Promise<void> {
      if (text.includes("$EVENT") && known.EVENT === "")
        for (const command of waitAndRead) await play(command);
      const answer = await shell(text, known);
      if (!/curl -sN|curl -s \$URL/.test(text)) expect(JSON.parse(answer), text).toMatchObject({ ok: true });
      for (const part of parts) expect(squeezed(answer), text).toContain(squeezed(part));
      if (text.includes("task.create")) Object.assign(known, { TASK: idIn(answer, "task_id"), EVENT: "" });
      // The server has a free port, which its base address does not contain.
      known.URL = idIn(answer, "url").replace(/^https?:\/\/[^/]+/, server.url) || known.URL;
      known.EVENT = idIn(answer, "waiting_for_event_id") || known.EVENT;
    }
    return play;
  }

  const squeezed = (text: string): string => text.replaceAll(/\s/g, "");
  const idIn = (answer: string, name: string): string =>
    new RegExp(`"${name}":"([^"]+)"`).exec(answer)?.[1] ?? "";

  test.each(withCommands)("shows what happens: $title", async ({ commands }) => {
    const play = reader();
    for (const command of commands) await play(command);
  });

  test("has commands for every state, and only commands, comments and variables in its blocks", () => {
    expect(withCommands.map(({ title }) => title)).toEqual([
      ...[
        "The offline agent",
        "Faults of a run",
        "Files",
        "Running",
        "Every event",
        "Error",
        "Waiting on a question",
        "Waiting on an approval",
      ],
      ...["Structured output", "Credits"],
    ]);
    const lines = blocksIn(page, "sh").flatMap((block) => block.split("\n"));
    expect(lines.filter((line) => !/^(curl -sN? |[ ]|# |(ATP_KEY|ATP_URL)=|$)/.test(line))).toEqual([]);
  });

  test("lists every directive, and only existing ones", () => {
    const orders = readDirectives("[[x]]");
    const known = "fault" in orders ? (orders.fault.rule.split("use one of ")[1] ?? "").split(", ") : [];
    const listed = [...page.matchAll(/^\| `\[\[(\w+)/gm)].map(([, name]) => name);
    expect(known.length).toBeGreaterThan(13);
    expect(listed.toSorted()).toEqual(known.toSorted());
  });

  test("lists every kind of confirmation with its schema", () => {
    expect(page.slice(page.indexOf("| Kind |")).trim()).toBe(kindsTable());
  });
});
