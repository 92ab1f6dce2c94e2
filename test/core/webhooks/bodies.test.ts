import { test } from "vitest";
import type { Attachment } from "../../../src/core/files/attachment.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { ask, begin, confirm, fail, finish, stop } from "../../../src/core/tasks/lifecycle.ts";
import { bodyOf } from "../../../src/core/webhooks/bodies.ts";
import { idsAfter } from "../../../src/core/webhooks/event-id.ts";
import { type Telling, tellingsOf } from "../../../src/core/webhooks/events.ts";
import { expectGolden } from "../../support/golden.ts";

const parts = { appUrl: "https://app.example.net", link: (fileId: string) => `https://files.example.net/${fileId}` };
const task = { id: "Rt5kQ", title: "Compare tariffs" };
const table: Attachment = { fileId: "f1", type: "file", filename: "tariffs.csv", contentType: "text/csv", bytes: 5120 };
const step: NewEvent = { type: "new_plan_step", payload: { stepId: "step_1", title: "Collect the price lists" } };
const made: Telling = { type: "task_created", seq: 1 };

const bodiesOf = (tellings: readonly Telling[], attachments: readonly Attachment[] = []): string[] => {
  const nextId = idsAfter([]);
  return tellings.map((telling) => bodyOf({ id: nextId(telling.type, task.id, 1_700_000_000_999), telling, task, attachments }, parts));
};

/** What there is to tell, by what happens to a task. */
const happenings: Readonly<Record<string, string[]>> = {
  "made by a call": bodiesOf([made, ...tellingsOf(begin("Compare tariffs"), 1)]),
  "two steps of its plan in one second": bodiesOf(tellingsOf([step, step], 3)),
  finished: bodiesOf(tellingsOf(finish("Done.").events, 5)),
  "finished, with a file": bodiesOf(tellingsOf(finish("Table attached.").events, 5), [table]),
  "finished, with a value": bodiesOf(tellingsOf(finish("Done.", { success: true, value: { cheapest: "B" } }).events, 5)),
  "finished, without the value that was asked for": bodiesOf(
    tellingsOf(finish("Done.", { success: false, value: { cheapest: "" }, error: "Failed to extract structured output" }).events, 5),
  ),
  "asks a question": bodiesOf(tellingsOf(ask("Which year?", ["2025", "2026"], null, "a").events, 5)),
  "asks for an approval": bodiesOf(
    tellingsOf(confirm({ kind: "deployAction", variant: "", actionId: "a", description: "Deploy the table." }).events, 5),
  ),
  "asks for an approval in the words of its kind": bodiesOf(
    tellingsOf(confirm({ kind: "deployAction", variant: "", actionId: "a" }).events, 5),
  ),
  failed: bodiesOf(tellingsOf(fail("model_error", "The model does not answer.").events, 5)),
  stopped: bodiesOf(tellingsOf(stop.events, 5)),
};

test("each body is as contract/webhooks.md 3 and contract/decisions.md 40 and 41 have it", () => {
  const lines = Object.entries(happenings).flatMap(([name, bodies]) => [`# ${name}`, ...bodies, ""]);
  expectGolden("webhook-bodies.txt", lines.join("\n"));
});
