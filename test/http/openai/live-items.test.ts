import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { type TaskEvent, TaskEventType } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../../src/gen/proto/task/v2/task_pb.ts";
import { type TextDelta, TextDeltaSchema } from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import { liveItems } from "../../../src/http/openai/live-items.ts";
import { isEnding, type StreamEvent, streamMapper } from "../../../src/http/openai/stream-events.ts";
import { histories, history, said } from "./histories.ts";

type Step = TaskEvent | TextDelta;

const part = (
  attempt: number,
  offset: number,
  text: string,
  more: MessageInitShape<typeof TextDeltaSchema> = {},
): TextDelta =>
  create(TextDeltaSchema, {
    attempt: BigInt(attempt),
    offset,
    text,
    type: TaskEventType.ASSISTANT_MESSAGE,
    ...more,
  });

/** What a reader gets who is there from the beginning. */
function streamOf(steps: readonly Step[]): StreamEvent[] {
  const mapper = streamMapper();
  const live = liveItems("t", mapper, -1);
  return [
    ...steps.flatMap((step) => ("seq" in step ? live.merge(mapper.map(step)) : live.add(step))),
    ...live.merge(mapper.flush()),
  ];
}

/** The stream in short: what was added, each piece, and how items ended. */
const short = (events: readonly StreamEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.type === "response.output_item.added") return [`${event.output_index} ${event.item.id}`];
    if (event.type === "response.output_text.delta") return [`+${event.delta}`];
    if (event.type === "response.output_item.done") return [`${event.item.status} ${event.item.id}`];
    return isEnding(event) ? [event.type] : [];
  });

const begun = history(said.user("Hi"), said.status(TaskStatus.RUNNING));
/** A turn with parts of texts before its message and its end. */
const turn = (parts: readonly TextDelta[]) => short(streamOf([...begun, ...parts, ...done]));

const done = history(
  ...[said.user("Hi"), said.status(TaskStatus.RUNNING)],
  ...[said.agent("One two", "result"), said.status(TaskStatus.STOPPED)],
).slice(2);
const item = "1 msg_t_1";
const completed = ["completed msg_t_1", "response.completed"];

test.each<[string, readonly TextDelta[], string[]]>([
  [
    "is sent as it is written, without what the event repeats",
    [part(1, 0, "One"), part(1, 3, " two")],
    [item, "+One", "+ two", ...completed],
  ],
  ["is completed by the event", [part(1, 0, "One")], [item, "+One", "+ two", ...completed]],
  [
    "waits for the event after a gap",
    [part(1, 0, "On"), part(1, 3, " tw"), part(1, 6, "o")],
    [item, "+On", "+e two", ...completed],
  ],
  [
    "waits for the event without its beginning",
    [part(1, 3, " two")],
    ["1 ev_t_3", "+One two", "completed ev_t_3", "response.completed"],
  ],
  [
    "that is begun again continues",
    [part(1, 0, "One"), part(2, 0, "O"), part(2, 1, "ne two")],
    [item, "+One", "+ two", ...completed],
  ],
  [
    "that is begun again with another text waits, and continues when the event is the first one",
    [part(1, 0, "One"), part(2, 0, "Other"), part(2, 5, " text"), part(1, 3, " two")],
    [item, "+One", "+ two", ...completed],
  ],
  [
    "ignores late parts of an earlier attempt",
    [part(1, 0, "One"), part(2, 0, "One"), part(1, 3, " more"), part(2, 3, " t")],
    [item, "+One", "+ t", "+wo", ...completed],
  ],
  [
    "keeps back white space at its end",
    [part(1, 0, "One "), part(1, 4, "two \n")],
    [item, "+One", "+ two", ...completed],
  ],
  [
    "that differs from the event ends as incomplete, and the message is another item",
    [part(1, 0, "One 2")],
    [item, "+One 2", "incomplete msg_t_1", "2 ev_t_3", "+One two", "completed ev_t_3", "response.completed"],
  ],
  [
    "of an explanation is not sent",
    [part(1, 0, "One", { type: TaskEventType.EXPLANATION })],
    ["1 ev_t_3", "+One two", "completed ev_t_3", "response.completed"],
  ],
])("a text %s", (_what, parts, expected) => {
  expect(turn(parts)).toEqual(expected);
});

test("an item ends as incomplete before a message of the user, and when the turn ends without its message", () => {
  const added = history(
    said.user("Hi"),
    said.status(TaskStatus.RUNNING),
    said.user("And?"),
    said.agent("One two"),
    said.stop(),
    said.status(TaskStatus.STOPPED),
  );
  const steps = [
    ...begun,
    part(1, 0, "One"),
    ...added.slice(2, 3),
    part(1, 3, " two"),
    ...added.slice(3, 4),
    part(2, 0, "Next"),
    ...added.slice(4),
  ];
  expect(short(streamOf(steps))).toEqual([
    ...[
      item,
      "+One",
      "incomplete msg_t_1",
      "2 ev_t_3",
      "completed ev_t_3",
      "3 ev_t_4",
      "+One two",
      "completed ev_t_4",
    ],
    ...["4 msg_t_2", "+Next", "incomplete msg_t_2", "response.incomplete"],
  ]);
});

/**
 * Histories with parts of texts before some of their messages: parts are lost, begun again, and of other
 * texts.
 */
const watched: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    histories,
    fc.array(fc.record({ cuts: fc.array(fc.nat(20), { maxLength: 4 }), how: fc.nat(9) }), { maxLength: 12 }),
  )
  .map(([events, plans]) => {
    let attempt = 0;
    return events.flatMap((event): readonly Step[] => {
      const plan = plans[event.seq % Math.max(1, plans.length)];
      const { payload } = event;
      if (!plan || payload.case !== "assistantMessage") return [event];
      const { content } = payload.value;
      const texts = plan.how > 7 ? ["Half a text", content] : plan.how > 5 ? [content, content] : [content];
      const parts = texts.flatMap((text) => {
        attempt += 1;
        const ends = [...plan.cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted(
          (a, b) => a - b,
        );
        return ends.map((end, i) => part(attempt, ends[i - 1] ?? 0, text.slice(ends[i - 1] ?? 0, end)));
      });
      return [...parts.filter((_, i) => plan.how !== 3 || i !== 1), event];
    });
  });

const withId = (event: StreamEvent): object =>
  "response" in event ? { ...event, response: { ...event.response, id: "t" } } : event;

test("any history and any parts are a stream that the SDK accumulates, whose complete items have the texts of the messages", () => {
  fc.assert(
    fc.property(watched, (steps) => {
      const events = streamOf(steps);
      const durable = streamMapper();
      const all = [...steps.flatMap((step) => ("seq" in step ? durable.map(step) : [])), ...durable.flush()];
      let snapshot: Response | undefined;
      for (const event of events) {
        if (event.type === "response.created") snapshot = undefined;
        // The SDK's types know neither our status values nor files in messages.
        snapshot = accumulateResponse(withId(event) as unknown as ResponseStreamEvent, snapshot);
      }
      const textsOf = (some: readonly StreamEvent[]) =>
        some.flatMap((event) =>
          event.type === "response.output_item.done" && event.item.status === "completed"
            ? [event.item.content]
            : [],
        );
      expect(textsOf(events)).toEqual(textsOf(all));
      const numbers = events.map(({ sequence_number }) => sequence_number);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      for (const { item_id, text } of events.flatMap((event) =>
        event.type === "response.output_text.done" ? [event] : [],
      ))
        expect(
          events
            .flatMap((event) =>
              event.type === "response.output_text.delta" && event.item_id === item_id ? [event.delta] : [],
            )
            .join(""),
        ).toBe(text);
    }),
  );
});
