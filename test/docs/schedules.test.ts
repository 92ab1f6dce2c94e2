import { expect } from "vitest";
import { failuresMax, schedulesMax, unfinishedMax } from "../../src/core/schedules/schedule.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/guides/schedules.md");

test("the commands of docs/guides/schedules.md create, run, change and delete a schedule", async () => {
  await using service = await openService({ idle: true });
  const { key } = await service.person();
  const known = { ATP_URL: service.url, ATP_KEY: key, SCHEDULE: "" };
  const commands = blocksIn(page, "sh").flatMap((block) =>
    block.split(/^(?=curl )/m).filter((text) => text.startsWith("curl")),
  );
  for (const command of commands) {
    const answer = await shell(command, known);
    expect(answer.replaceAll(" ", "")).toContain((/^# (.*)$/m.exec(command)?.[1] ?? "").replaceAll(" ", ""));
    known.SCHEDULE ||= /"id":"(\w{22})"/.exec(answer)?.[1] ?? "";
  }
  expect(commands).toHaveLength(8);
});

test("docs/guides/schedules.md has the current limits", () => {
  expect(page).toContain(`| schedules of an account in a space | ${schedulesMax} |`);
  expect(page).toContain(`| failures in a row | ${failuresMax} |`);
  expect(page).toContain(`| tasks that have not ended | ${unfinishedMax} |`);
});
