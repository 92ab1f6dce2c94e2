import { expect } from "vitest";
import { frontEnd, interruptsOf, texts } from "../agui/front-end.ts";
import { isPart, type RunStory, storyMessage, storyWords } from "./story.ts";

/** Runs the story as a front end. */
export const storyByFrontEnd: RunStory = async ({ service, person, did }) => {
  const { agent, run, say, typed } = frontEnd(service.url, person.headers);

  say(storyMessage);
  const [question] = interruptsOf(await run());
  did("create");
  expect(typed("TEXT_MESSAGE_CONTENT").some((event) => "delta" in event && isPart(event["delta"]))).toBe(
    true,
  );
  expect(texts(agent.messages)).toEqual([
    `user: ${storyMessage}`,
    `assistant: ${storyWords}`,
    "assistant: Which colour?",
  ]);
  did("delta");
  expect(question).toMatchObject({
    reason: "question",
    message: "Which colour?",
    responseSchema: { properties: { choice: { enum: ["red", "blue"] } } },
  });
  did("question");

  const answer = {
    interruptId: question?.id ?? "",
    status: "resolved",
    payload: { choice: "blue" },
  } as const;
  const [approval] = interruptsOf(await run({ resume: [answer] }));
  did("answer");
  expect(approval).toMatchObject({
    reason: "approval",
    message: expect.stringContaining("terminalExecute"),
    metadata: { can_answer: true },
  });
  expect(typed("TOOL_CALL_START")).toHaveLength(1);

  const end = await run({
    resume: [{ interruptId: approval?.id ?? "", status: "resolved", payload: { accept: true } }],
  });
  expect(end).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  did("approval");
  const files = agent.messages.flatMap(
    (message) => (message as { metadata?: { attachments?: { url: string }[] } }).metadata?.attachments ?? [],
  );
  // Its own message has it, and the result.
  expect(files).toMatchObject([{ filename: "sums.csv" }, { filename: "sums.csv" }]);
  expect(await (await fetch(files[0]?.url ?? "")).text()).toBe("tea,12");
  did("file");
  expect(agent.messages.filter(({ role }) => role === "tool")).toHaveLength(1);

  say("[[forever]]");
  await agent.runAgent({}, { onStateSnapshotEvent: () => agent.abortRun() });
  expect(await run({ forwardedProps: { stop: true } })).toMatchObject({
    type: "RUN_FINISHED",
    outcome: { type: "cancelled" },
  });
  did("stop");

  const id = String(agent.state["task_id"]);
  const { lastSeq } = (await service.store.tasks.byId(id)) ?? {};
  expect(agent.state).toMatchObject({ status: "stopped", last_seq: lastSeq, waiting: null });
  return id;
};
