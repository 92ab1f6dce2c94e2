import { expect, test } from "vitest";
import type { TaskEvent } from "../../src/core/tasks/event.ts";
import { historyMax, readPast, toHistory } from "../../src/core/tasks/history.ts";
import { agentMessage } from "../store/samples.ts";

test("a long history leaves out the oldest messages", async () => {
  const said = (seq: number): TaskEvent =>
    ({ ...agentMessage(`${seq}`), taskId: "t", seq, timestamp: seq }) as TaskEvent;
  const newest = Array.from({ length: historyMax }, (_, nth) => said(300 - nth));
  const list = async (_id: string, { types = [] }: { readonly types?: readonly string[] }) =>
    types.includes("assistant_message") ? newest : [];
  const past = await readPast({ list }, { id: "t", answeredSeq: 300, consumedSeq: 302 });
  const contents = toHistory(past, [said(301)]).map((entry) => entry.role !== "tool" && entry.content);
  expect(contents).toEqual(Array.from({ length: historyMax }, (_, nth) => `${301 - historyMax + 1 + nth}`));
});
