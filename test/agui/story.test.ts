import { expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { untilWatched, writeAll } from "../workers/written-text.ts";
import { frontEnd, texts } from "./front-end.ts";

const rig = taskRig({ env: { AGENT_PROFILES: "manus-1.6-max=remote" } });
const openThread = (headers = rig.ann.headers, id?: string) => frontEnd(rig.service.url, headers, id);

test("a run that is repeated after a lost connection creates nothing again, and a reopened thread has every message once", async () => {
  const { agent, run, say, typed } = openThread();
  say("[[plan Look | Write]] [[step]] [[think It is short]] [[tool browser]] [[step]] [[say Found]]");
  await agent.runAgent({}, { onRunStartedEvent: () => agent.abortRun() });
  await run();
  await run();
  const before = (await rig.ann.v2("task.list")).body["data"].filter(({ title }: { title: string }) =>
    title.startsWith("[[plan Look"),
  );
  expect(before).toHaveLength(1);
  expect(agent.state).toMatchObject({
    plan: [
      { title: "Look", status: "done" },
      { title: "Write", status: "done" },
    ],
  });

  const id = String(agent.state["task_id"]);
  const other = openThread(rig.ann.headers, id);
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
  const { run, say } = openThread();
  say("[[fail quota_limit | No credits]]");
  await expect(run()).resolves.toMatchObject({
    type: "RUN_ERROR",
    code: "quota_limit",
    message: "No credits",
  });
  const stranger = await rig.service.person();
  const other = openThread(stranger.headers, await rig.create("[[say x]]"));
  expect(await other.run()).toMatchObject({ type: "RUN_ERROR", code: "not_found" });
});

test("a snapshot leaves the messages in their order with every id that the front end has for them", async () => {
  const { agent, run, say, typed } = openThread();
  say("[[stream one two three]] [[tool browser]] [[say Done]]");
  await run();
  const before = texts(agent.messages);
  await run();
  expect(typed("MESSAGES_SNAPSHOT")).toHaveLength(1);
  expect(texts(agent.messages)).toEqual(before);
});

test("a message that is not the text that was shown takes its place, and the messages keep their order", async () => {
  const worker = await createWorker(rig.service, rig.ann);
  const { agent, run, say, typed } = openThread();
  say("Write");
  const ended = run({ forwardedProps: { task: { agent_profile: "manus-1.6-max" } } });
  const claimed = await worker.pollUntilRun();
  await untilWatched(worker, claimed);
  await writeAll(worker, claimed, "Half");
  await expect.poll(() => texts(agent.messages)).toEqual(["user: Write", "assistant: Half"]);
  await worker.finish(claimed, { finish: { content: "Whole" } });
  expect(await ended).toMatchObject({ outcome: { type: "success" } });
  expect(typed("MESSAGES_SNAPSHOT")).toHaveLength(1);
  expect(texts(agent.messages)).toEqual(["user: Write", "assistant: Whole"]);
});
