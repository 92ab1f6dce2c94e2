import { expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { frontEnd, texts } from "./front-end.ts";

const rig = taskRig();
const openThread = (headers = rig.ann.headers, id?: string) => frontEnd(rig.service.url, headers, id);

test("a run that is repeated after a lost connection creates nothing again, and a reopened thread has every message once", async () => {
  const { agent, run, say, typed } = openThread();
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
  await expect(run()).resolves.toMatchObject({ type: "RUN_ERROR", code: "quota_limit", message: "No credits" });
  const stranger = await rig.service.person();
  const other = openThread(stranger.headers, await rig.create("[[say x]]"));
  expect(await other.run()).toMatchObject({ type: "RUN_ERROR", code: "not_found" });
});
