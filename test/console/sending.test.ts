import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { emptyFeed } from "../../console/src/task/feed.ts";
import type { Sending } from "../../console/src/task/sending.ts";
import { timelineOf } from "../../console/src/task/timeline.ts";
import {
  type TaskEvent,
  TaskEventSchema,
  TaskEventType,
} from "../../src/gen/browser-proto/task/v2/task_event_pb.ts";

const user = (seq: number, content: string): TaskEvent =>
  create(TaskEventSchema, {
    ...{ id: `ev_${seq}`, seq, type: TaskEventType.USER_MESSAGE },
    payload: { case: "userMessage", value: { content } },
  });
const sending: Sending = {
  taskId: "task",
  key: "sent",
  at: 0,
  content: "Hi",
  files: [],
  afterSeq: 1,
  isSent: false,
};
const sent: Sending = { ...sending, isSent: true };

test.each<[string, readonly TaskEvent[], Sending, readonly string[]]>([
  [
    "last while its event has not come, also when an earlier message has its text",
    [user(1, "Hi")],
    sending,
    ["ev_1", "sent"],
  ],
  ["in the place of its event, once", [user(1, "Hi"), user(2, "Hi")], sending, ["ev_1", "sent"]],
  ["after messages of other tabs", [user(1, "One"), user(2, "Other")], sending, ["ev_1", "ev_2", "sent"]],
  [
    "once when the server has written its text in another way",
    [user(1, "One"), user(2, "Hi.")],
    sent,
    ["ev_1", "sent"],
  ],
  [
    "before a message with its text that came later",
    [user(1, "One"), user(2, "Hi"), user(3, "Hi")],
    sent,
    ["ev_1", "sent", "ev_3"],
  ],
])("a message that is sent is shown %s", (_what, events, message, expected) => {
  const { items } = timelineOf({ ...emptyFeed, events }, message);
  expect(items.map(({ key }) => key)).toEqual(expected);
});
