import { describe, expect, test } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { jsonOf, mcpClient } from "./client.ts";

const rig = taskRig({ env: { RATE_LIMITS: "off" } });
const connect = (query = "", headers = rig.ann.headers) => mcpClient(rig.service.url, { headers, query });

describe("the tools of a credential", () => {
  test("a key has the default set, without a tool that deletes, publishes or approves", async () => {
    const { tools } = await (await connect()).listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toMatchInlineSnapshot(`
      [
        "task_create",
        "task_send_message",
        "task_answer",
        "task_wait",
        "task_search",
        "file_list",
        "file_read",
        "file_upload",
        "task_detail",
        "task_list",
        "task_stop",
        "task_list_messages",
        "schedule_create",
        "schedule_list",
        "schedule_detail",
        "schedule_update",
        "schedule_pause",
        "schedule_resume",
        "schedule_run_now",
        "project_list",
        "skill_list",
        "agent_profile_list",
      ]
    `);
  });
});

test("creates a task and waits", async () => {
  const client = await connect();
  const progress: string[] = [];
  const result = await client.callTool(
    { name: "task_create", arguments: { message: "[[stream one two three]] [[say done]]" } },
    { onprogress: ({ message }) => void progress.push(message ?? "") },
  );
  expect(jsonOf(result as never)).toMatchInlineSnapshot(`
    {
      "brief": "Done",
      "last_seq": 5,
      "messages": [
        {
          "content": "one two three",
          "seq": 3,
        },
        {
          "content": "done",
          "kind": "result",
          "seq": 4,
        },
      ],
      "next": "The turn has ended: task_send_message starts the next one.",
      "outcome": "finished",
      "status": "stopped",
      "task_id": "wX9xt8oxaAP6vqkhvWoVxP",
      "task_url": "https://platform.test/app/wX9xt8oxaAP6vqkhvWoVxP",
      "title": "[[stream one two three]] [[say done]]",
    }
  `);
  expect(progress).toMatchInlineSnapshot(`
    [
      "Working on it",
      "one",
      "one two",
      "one two three",
      "one two three",
      "done",
      "Done",
    ]
  `);
});
void tokenOf;
