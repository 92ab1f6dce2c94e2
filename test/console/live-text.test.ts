import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addToFeed, emptyFeed, type Feed } from "../../console/src/task/feed.ts";
import { nothingParsed, parse, parseGrown } from "../../console/src/task/markdown-blocks.ts";
import { timelineOf } from "../../console/src/task/timeline.ts";
import {
  type TaskEvent,
  TaskEventSchema,
  TaskEventType,
} from "../../src/gen/browser-proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../src/gen/browser-proto/task/v2/task_pb.ts";
import { type TextDelta, TextDeltaSchema } from "../../src/gen/browser-proto/task/v2/task_service_pb.ts";
import { root } from "../support/server-process.ts";

type Payload = NonNullable<MessageInitShape<typeof TaskEventSchema>["payload"]>;
const event = (seq: number, type: TaskEventType, payload: Payload): TaskEvent =>
  create(TaskEventSchema, { id: `ev_${seq}`, seq, type, payload });
const answer = (seq: number, content: string) =>
  event(seq, TaskEventType.ASSISTANT_MESSAGE, { case: "assistantMessage", value: { content } });
const status = (seq: number, agentStatus: TaskStatus) =>
  event(seq, TaskEventType.STATUS_UPDATE, { case: "statusUpdate", value: { agentStatus } });
const user = (seq: number) =>
  event(seq, TaskEventType.USER_MESSAGE, { case: "userMessage", value: { content: "Hi" } });
const tool = (seq: number) =>
  event(seq, TaskEventType.TOOL_USED, { case: "toolUsed", value: { actionId: `${seq}` } });
const part = (
  attempt: number,
  offset: number,
  text: string,
  type: TaskEventType = TaskEventType.ASSISTANT_MESSAGE,
): TextDelta => create(TextDeltaSchema, { messageKey: "m2", attempt: BigInt(attempt), offset, text, type });

const begun = [user(1), status(2, TaskStatus.RUNNING)];
const feedOf = (...news: readonly (TaskEvent | TextDelta)[]): Feed =>
  addToFeed(emptyFeed, [...begun, ...news]);
/** The texts of the agent that the page shows. */
const shown = (feed: Feed) =>
  timelineOf(feed).items.flatMap((item) => (item.kind === "agent" ? [item.message.content] : []));
const keys = (feed: Feed) => timelineOf(feed).items.map(({ key }) => key);

test.each<[string, readonly (TaskEvent | TextDelta)[], readonly string[]]>([
  ["its parts as they arrive", [part(1, 0, "One"), part(1, 3, " two")], ["One two"]],
  ["nothing after a gap", [part(1, 0, "One"), part(1, 7, " three")], []],
  ["nothing without its beginning", [part(1, 3, " two"), part(1, 7, " three")], []],
  [
    "the text so far when a stream is opened again",
    [part(1, 0, "One"), part(1, 0, "One two"), part(1, 7, "!")],
    ["One two!"],
  ],
  [
    "the next attempt instead of the one before",
    [part(1, 0, "One"), part(2, 0, "Two"), part(1, 3, " late")],
    ["Two"],
  ],
  [
    "nothing of an attempt that was begun again without its beginning",
    [part(1, 0, "One"), part(2, 3, "Two")],
    [],
  ],
  ["the message instead of its text", [part(1, 0, "One"), answer(3, "One two")], ["One two"]],
  ["nothing when the turn has ended", [part(1, 0, "One"), status(3, TaskStatus.STOPPED)], []],
  [
    "the text after a message of the user and a tool",
    [part(1, 0, "One"), user(3), tool(4), part(1, 3, " two")],
    ["One two"],
  ],
])("a text that is written shows %s", (_what, news, expected) => {
  expect(shown(feedOf(...news))).toEqual(expected);
});

test("the message has the key of its text, so that the page shows it in the same place", () => {
  const written = feedOf(part(1, 0, "One"));
  const done = addToFeed(written, [answer(3, "One two"), part(1, 3, " two", TaskEventType.EXPLANATION)]);
  expect(keys(written)).toEqual(["ev_1", "live m2"]);
  expect(keys(done).slice(0, 2)).toEqual(keys(written));
  // The next message with the same text has another key.
  const next = addToFeed(done, [part(2, 0, "Three"), answer(4, "Three")]);
  expect(new Set(keys(next)).size).toBe(keys(next).length);
});

test("a message that comes while a text is written is below it, also once the text is an event; one from before is above", () => {
  const written = feedOf(part(1, 0, "One"), user(3), part(1, 3, " two"));
  const done = addToFeed(written, [answer(4, "One two"), user(5)]);
  expect(keys(written)).toEqual(["ev_1", "live m2", "ev_3"]);
  expect(keys(done)).toEqual(["ev_1", "live m2", "ev_3", "ev_5"]);
});

test("a thought that is written is in the group of tools", () => {
  const { items } = timelineOf(feedOf(tool(3), part(1, 0, "Let me see", TaskEventType.EXPLANATION)));
  expect(items.at(-1)).toMatchObject({
    kind: "work",
    uses: [{ kind: "tool" }, { kind: "thought", text: "Let me see" }],
  });
});

const block = fc.constantFrom(
  "A *word* of it.",
  "# Title",
  "- one\n- two",
  "1. one\n2. two",
  "```js\nlet a;\n\nlet b;\n```",
  "> said\n> so",
  "| a | b |\n| - | - |\n| 1 | 2 |",
  "---",
);

test("a text that grows has the blocks of the whole text at each length, and parses its end only", () => {
  fc.assert(
    fc.property(
      fc.array(block, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      (blocks, step) => {
        const text = blocks.join("\n\n");
        let grown = nothingParsed;
        for (let length = step; length < text.length + step; length += step) {
          const part = text.slice(0, length);
          grown = parseGrown(grown, part);
          expect(withoutPlaces(grown.blocks)).toEqual(withoutPlaces(parse(part)));
        }
        if (blocks.length > 3) expect(grown.done.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 20 },
  );
});

const withoutPlaces = (blocks: unknown): unknown =>
  JSON.parse(JSON.stringify(blocks), (name, value) => (name === "position" ? undefined : value));

interface Step {
  readonly delta?: {
    readonly message_key: string;
    readonly attempt: number;
    readonly offset: number;
    readonly text: string;
    readonly type: string;
  };
  readonly event?: string;
  readonly text: string | null;
}
const streams: readonly { readonly name: string; readonly steps: readonly Step[] }[] = JSON.parse(
  readFileSync(join(root, "conformance/live-texts.json"), "utf8"),
);
const typeNamed = (name: string): TaskEventType =>
  TaskEventType[name.toUpperCase() as keyof typeof TaskEventType];

test.each(streams)("shows what the clients show of a stream: $name", ({ steps }) => {
  let feed = emptyFeed;
  for (const [at, { delta, event: name, text }] of steps.entries()) {
    if (delta) {
      const { message_key: messageKey, attempt, offset } = delta;
      const before = feed.live;
      feed = addToFeed(feed, [
        create(TextDeltaSchema, {
          messageKey,
          attempt: BigInt(attempt),
          offset,
          text: delta.text,
          type: typeNamed(delta.type),
        }),
      ]);
      expect((feed.live === before ? null : feed.live?.text) || null).toBe(text);
    } else {
      const type = typeNamed(name ?? "");
      const ended =
        type === TaskEventType.STATUS_UPDATE
          ? status(at + 1, TaskStatus.STOPPED)
          : create(TaskEventSchema, { id: `ev_${at}`, seq: at + 1, type });
      feed = addToFeed(feed, [ended]);
    }
  }
});
