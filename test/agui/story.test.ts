import { type AgentSubscriber, type BaseEvent, HttpAgent, type Message, type RunAgentParameters } from "@ag-ui/client";
import { expect, test } from "vitest";
import { recordedStory, storyMessage, storyWords, tellByV2 } from "../support/story.ts";
import { taskRig } from "../support/task-rig.ts";

const rig = taskRig();

/** A front end: the client of the protocol, and the events that it received. */
function frontEnd(headers: Record<string, string> = rig.ann.headers, threadId = `thread-${Math.random()}`) {
  const agent = new HttpAgent({ url: `${rig.service.url}/ag-ui`, headers, threadId });
  const events: BaseEvent[] = [];
  const subscriber: AgentSubscriber = { onEvent: ({ event }) => void events.push(event) };
  return {
    agent,
    events,
    typed: (type: string) => events.filter((event) => event.type === type),
    async run(parameters: RunAgentParameters = {}) {
      events.length = 0;
      await agent.runAgent(parameters, subscriber);
      return events.at(-1);
    },
    say: (content: string) => agent.addMessage({ id: crypto.randomUUID(), role: "user", content }),
  };
}

const texts = (messages: readonly Message[]) =>
  messages.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : ""}`);

const interruptsOf = (event: BaseEvent | undefined) =>
  (event as { outcome?: { interrupts?: { id: string }[] } })?.outcome?.interrupts ?? [];

test("a front end runs the story of v2: deltas, a question, an approval, a file and a stop; the recorded events are equal (spec/api.md 8.110)", async () => {
  const expected = await recordedStory(rig, await tellByV2(rig));
  const { agent, run, say, typed } = frontEnd();

  say(storyMessage);
  const [question] = interruptsOf(await run());
  expect(question).toMatchObject({
    reason: "question",
    message: "Which colour?",
    responseSchema: { properties: { choice: { enum: ["red", "blue"] } } },
  });
  // Deltas are hints: a slow machine misses some of them (spec/api.md 8.72).
  expect(typed("TEXT_MESSAGE_CONTENT").length).toBeGreaterThan(2);
  expect(texts(agent.messages)).toEqual([`user: ${storyMessage}`, `assistant: ${storyWords}`, "assistant: Which colour?"]);

  const [approval] = interruptsOf(
    await run({ resume: [{ interruptId: question?.id ?? "", status: "resolved", payload: { choice: "blue" } }] }),
  );
  expect(approval).toMatchObject({
    reason: "approval",
    message: expect.stringContaining("terminalExecute"),
    metadata: { can_answer: true },
  });
  expect(typed("TOOL_CALL_START")).toHaveLength(1);

  const end = await run({ resume: [{ interruptId: approval?.id ?? "", status: "resolved", payload: { accept: true } }] });
  expect(end).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  const files = agent.messages.flatMap((message) => (message as { metadata?: { attachments?: object[] } }).metadata?.attachments ?? []);
  expect(files).toMatchObject([{ filename: "sums.csv", url: expect.any(String) }]);
  expect(agent.messages.filter(({ role }) => role === "tool")).toHaveLength(1);

  say("[[forever]]");
  await agent.runAgent({}, { onStateSnapshotEvent: () => agent.abortRun() });
  expect(await run({ forwardedProps: { stop: true } })).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });

  const id = String(agent.state["task_id"]);
  expect(agent.state).toMatchObject({ status: "stopped", last_seq: (await rig.row(id)).lastSeq, waiting: null });
  expect(await recordedStory(rig, id)).toEqual(expected);
});

test("a run that is repeated after a lost connection creates nothing again, and a reopened thread has every message once", async () => {
  const { agent, run, say, typed } = frontEnd();
  say("[[plan Look | Write]] [[step]] [[think It is short]] [[tool browser]] [[step]] [[say Found]]");
  await agent.runAgent({}, { onRunStartedEvent: () => agent.abortRun() });
  await run();
  await run();
  const before = (await rig.ann.v2("task.list")).body["data"].filter(({ title }: { title: string }) => title.startsWith("[[plan Look"));
  expect(before).toHaveLength(1);
  expect(agent.state).toMatchObject({
    plan: [
      { title: "Look", status: "done" },
      { title: "Write", status: "done" },
    ],
  });

  const id = String(agent.state["task_id"]);
  const other = frontEnd(rig.ann.headers, id);
  expect(await other.run()).toMatchObject({ outcome: { type: "success" } });
  expect(texts(other.agent.messages)).toEqual([
    "user: [[plan Look | Write]] [[step]] [[think It is short]] [[tool browser]] [[step]] [[say Found]]",
    "reasoning: It is short",
    "assistant: ",
    expect.stringContaining("tool: "),
    "assistant: Found",
  ]);
  // A run without a message of the user sends none.
  expect(await rig.events(id)).toHaveLength((await rig.row(id)).lastSeq);
  await other.run();
  expect(other.typed("MESSAGES_SNAPSHOT")).toHaveLength(1);
  other.say("[[say Again]] [[tool shell | error]]");
  await other.run();
  expect(texts(other.agent.messages).slice(-4)).toEqual([
    expect.stringContaining("user: "),
    "assistant: ",
    expect.stringContaining("tool: "),
    "assistant: Again",
  ]);
  expect(typed("STEP_STARTED").length).toBe(typed("STEP_FINISHED").length);
});

test("a failed task ends its run with an error, and a refusal too", async () => {
  const { run, say } = frontEnd();
  say("[[fail quota_limit | No credits]]");
  await expect(run()).resolves.toMatchObject({ type: "RUN_ERROR", code: "quota_limit", message: "No credits" });
  const stranger = await rig.service.person();
  const other = frontEnd(stranger.headers, await rig.create("[[say x]]"));
  expect(await other.run()).toMatchObject({ type: "RUN_ERROR", code: "not_found" });
});
