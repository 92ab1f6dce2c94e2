import { expect, test } from "vitest";
import { inputSchema } from "../../src/core/actions/kind.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { taskRig } from "../support/task-rig.ts";

const accept = inputSchema("terminalExecute", "") ?? {};

describeOnOne("the action in status_detail", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database) });
  const waiting = async (text: string): Promise<string> => {
    const id = await rig.create(text);
    await rig.reach(id, "waiting");
    return id;
  };
  const detailOf = async (task_id: string) =>
    (await rig.ann.v2("task.detail", { task_id })).body["task"]["status_detail"];
  const listed = async (id: string) => {
    const { body } = await rig.ann.v2("task.list", { limit: 100 });
    return body["data"].find((task: { id: string }) => task.id === id).status_detail;
  };

  test("task.detail has the tool with all its params; lists say only whether the description shows all", async () => {
    const mails = await waiting("[[confirm gmailSendAction]]");
    const command = await waiting("[[confirm terminalExecute]]");
    expect(await detailOf(mails)).toMatchObject({
      tool: {
        name: "gmail_send",
        description: "Send these mails with Gmail.",
        params: { messages: [{ to: ["ann@example.com"] }, {}] },
      },
      is_whole: false,
    });
    expect(await detailOf(command)).toMatchObject({
      tool: { params: { command: "make clean" } },
      is_whole: true,
    });
    for (const [id, is_whole] of [
      [mails, false],
      [command, true],
    ] as const) {
      expect(await listed(id)).toMatchObject({ is_whole });
      expect(await listed(id)).not.toHaveProperty("tool");
    }
  });

  test("WatchTasks says it too", async () => {
    const left = new AbortController();
    const watch = rig.ann.client(TaskService).watchTasks({ follow: true }, { signal: left.signal });
    const answers = watch[Symbol.asyncIterator]();
    await answers.next();
    const id = await rig.create("[[confirm terminalExecute]]");
    let found: boolean | undefined;
    while (found === undefined) {
      const next = await answers.next();
      if (next.done) expect.fail("the watch ended");
      found = next.value.tasks.find((task) => task.id === id)?.statusDetail?.isWhole;
    }
    expect(found).toBe(true);
    left.abort();
  });

  test("events and questions have neither", async () => {
    const command = await waiting("[[confirm terminalExecute]]");
    const events = await rig.events(command, { order: "desc", limit: 1 });
    expect(Object.keys(events[0]?.["status_update"].status_detail)).toEqual([
      ...["waiting_for_event_id", "waiting_for_event_type", "waiting_description", "confirm_input_schema"],
    ]);
    const question = await rig.create("[[ask Which? | A | B]]", { interactive_mode: true });
    await rig.reach(question, "waiting");
    expect(Object.keys(await detailOf(question))).not.toContain("is_whole");
    expect(Object.keys(await detailOf(question))).not.toContain("tool");
  });

  test("a wait without its tool is not whole", async () => {
    const id = await rig.runToEnd();
    const statusDetail = {
      waitingForEventType: "terminalExecute",
      waitingDescription: "Go on",
      confirmInputSchema: accept,
    };
    const status = {
      type: "status_update",
      payload: { agentStatus: "waiting", brief: "Waits", statusDetail },
    } as const;
    await rig.service.store.change((tx) =>
      tx.tasks.advance(id, { now: Date.now(), set: { status: "waiting" }, events: [status] }),
    );
    expect(await detailOf(id)).toMatchObject({ waiting_description: "Go on", is_whole: false });
    expect(await detailOf(id)).not.toHaveProperty("tool");
  });
});
