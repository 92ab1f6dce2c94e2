import { test } from "vitest";
import type { Attachment } from "../../../src/core/files/file.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { ask, confirm, fail, finish, firstEvents, stop } from "../../../src/core/tasks/lifecycle.ts";
import { encodeBody, type Notification, notificationsOf } from "../../../src/core/webhooks/notifications.ts";
import { createEventIds } from "../../../src/core/webhooks/outbox.ts";
import { expectGolden } from "../../support/golden.ts";

const parts = {
  appUrl: "https://app.example.net",
  link: (fileId: string) => `https://files.example.net/${fileId}`,
};
const task = { id: "Rt5kQ", title: "Compare tariffs", metadata: {} };
const table: Attachment = {
  fileId: "f1",
  type: "file",
  filename: "tariffs.csv",
  contentType: "text/csv",
  bytes: 5120,
};
const step: NewEvent = {
  type: "new_plan_step",
  payload: { stepId: "step_1", title: "Collect the price lists" },
};
const made: Notification = { type: "task_created", seq: 1 };

const bodiesOf = (
  notifications: readonly Notification[],
  attachments: readonly Attachment[] = [],
): string[] => {
  const nextId = createEventIds([]);
  return notifications.map((notification) =>
    encodeBody(
      { id: nextId(notification.type, task.id, 1_700_000_000_999), notification, task, attachments },
      parts,
    ),
  );
};

/** The bodies of a task's events. */
const happenings: Readonly<Record<string, string[]>> = {
  "made by a call": bodiesOf([made, ...notificationsOf(firstEvents("Compare tariffs"), 1)]),
  "two steps of its plan in one second": bodiesOf(notificationsOf([step, step], 3)),
  finished: bodiesOf(notificationsOf(finish("Done.").events, 5)),
  "finished, with a file": bodiesOf(notificationsOf(finish("Table attached.").events, 5), [table]),
  "finished, with a value": bodiesOf(
    notificationsOf(finish("Done.", { success: true, value: { cheapest: "B" } }).events, 5),
  ),
  "finished, without the value that was asked for": bodiesOf(
    notificationsOf(
      finish("Done.", {
        success: false,
        value: { cheapest: "" },
        error: "Failed to extract structured output",
      }).events,
      5,
    ),
  ),
  "asks a question": bodiesOf(notificationsOf(ask("Which year?", ["2025", "2026"], null, "a").events, 5)),
  "asks for an approval": bodiesOf(
    notificationsOf(
      confirm({ kind: "deployAction", variant: "", actionId: "a", description: "Deploy the table." }).events,
      5,
    ),
  ),
  "asks for an approval in the words of its kind": bodiesOf(
    notificationsOf(confirm({ kind: "deployAction", variant: "", actionId: "a" }).events, 5),
  ),
  failed: bodiesOf(notificationsOf(fail("model_error", "The model does not answer.").events, 5)),
  stopped: bodiesOf(notificationsOf(stop.events, 5)),
};

test("each body has the form of spec/webhooks.md 3 and spec/decisions.md 40 and 41", () => {
  const lines = Object.entries(happenings).flatMap(([name, bodies]) => [`# ${name}`, ...bodies, ""]);
  expectGolden("webhook-bodies.txt", lines.join("\n"));
});
