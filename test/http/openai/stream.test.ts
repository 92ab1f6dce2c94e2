import fc from "fast-check";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import type { TaskEvent } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../../src/gen/proto/task/v2/task_pb.ts";
import { isEnding, type StreamEvent, streamMapper } from "../../../src/http/openai/stream-events.ts";
import { histories, history, said } from "./histories.ts";

const { RUNNING, STOPPED, WAITING, ERROR } = TaskStatus;

/** The events of a task whose next event is not known. */
function streamSoFar(events: readonly TaskEvent[]): StreamEvent[] {
  const { map } = streamMapper();
  return events.flatMap(map);
}

/** The events of a task that has no other event. */
function streamOf(events: readonly TaskEvent[]): StreamEvent[] {
  const { map, flush } = streamMapper();
  return [...events.flatMap(map), ...flush()];
}

/** The events of each turn, separately. */
const turnsOf = (events: readonly StreamEvent[]): StreamEvent[][] =>
  events.reduce<StreamEvent[][]>((turns, event) => {
    if (event.type === "response.created") turns.push([]);
    turns.at(-1)?.push(event);
    return turns;
  }, []);

describe("the events of any history", () => {
  test("are numbered from 0 without a gap", () => {
    fc.assert(
      fc.property(histories, (events) => {
        const streamed = streamOf(events);
        expect(streamed.map(({ sequence_number }) => sequence_number)).toEqual(streamed.map((_, i) => i));
      }),
    );
  });

  test("are the same up to the end of the history, for a cut at any event", () => {
    fc.assert(
      fc.property(histories, fc.nat(60), (events, cut) => {
        const some = streamSoFar(events.slice(0, cut));
        expect(streamOf(events).slice(0, some.length)).toEqual(some);
      }),
    );
  });

  test("are turns: each begins with created and in_progress, ends at most once, and only the last may be open", () => {
    fc.assert(
      fc.property(histories, (events) => {
        const turns = turnsOf(streamOf(events));
        for (const [i, turn] of turns.entries()) {
          expect(turn.slice(0, 2).map(({ type }) => type)).toEqual([
            "response.created",
            "response.in_progress",
          ]);
          const ends = turn.flatMap((event, at) => (isEnding(event) ? [at] : []));
          expect(ends).toEqual(i < turns.length - 1 || ends.length > 0 ? [turn.length - 1] : []);
        }
      }),
    );
  });

  test("add up to each turn's final output in the SDK's accumulator", () => {
    fc.assert(
      fc.property(histories, (events) => {
        for (const turn of turnsOf(streamOf(events))) {
          let snapshot: Response | undefined;
          for (const event of turn) {
            const before = snapshot?.output;
            // The SDK's types know neither our status values nor files in messages.
            snapshot = accumulateResponse(withId(event) as unknown as ResponseStreamEvent, snapshot);
            if (isEnding(event)) expect(inOneKind(before)).toEqual(inOneKind(snapshot.output));
          }
        }
      }),
    );
  });
});

/** Texts next to a structured output are output_text until it is known: here they always have that type. */
const inOneKind = (output: unknown): unknown =>
  JSON.parse(
    JSON.stringify(output ?? []).replaceAll('"type":"text"', '"type":"output_text"'),
    withoutAnnotations,
  );

const withoutAnnotations = (name: string, value: unknown): unknown =>
  name === "annotations" ? undefined : value;

const withId = (event: StreamEvent): object =>
  "response" in event ? { ...event, response: { ...event.response, id: "t" } } : event;

describe("a turn", () => {
  const beginning = [said.user("Hi"), said.status(RUNNING)];

  test("streams a text piece by piece, and a file after it, in the order of the conversation", () => {
    const streamed = streamOf(
      history(...beginning, said.thought("Hm"), said.agent("Yes", "result", "a.md"), said.status(STOPPED)),
    );
    const place = { item_id: "ev_t_4", output_index: 1, content_index: 0 };
    const text = { type: "output_text", text: "Yes", annotations: [] };
    const file = { type: "output_file", fileUrl: "https://files.test/a.md", fileName: "a.md" };
    const item = { id: "ev_t_4", type: "message", role: "assistant" };
    const question = {
      id: "ev_t_1",
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "Hi" }],
    };
    const answer = { ...item, status: "completed", content: [text, file] };
    const running = { status: "running", error: null, incomplete_details: null, output: [question] };
    expect(streamed).toEqual(
      [
        { type: "response.created", response: running },
        { type: "response.in_progress", response: running },
        {
          type: "response.output_item.added",
          output_index: 1,
          item: { ...item, status: "in_progress", content: [] },
        },
        { type: "response.content_part.added", ...place, part: { ...text, text: "" } },
        { type: "response.output_text.delta", ...place, delta: "Yes", logprobs: [] },
        { type: "response.output_text.done", ...place, text: "Yes", logprobs: [] },
        { type: "response.content_part.done", ...place, part: text },
        { type: "response.content_part.added", ...place, content_index: 1, part: file },
        { type: "response.content_part.done", ...place, content_index: 1, part: file },
        { type: "response.output_item.done", output_index: 1, item: answer },
        {
          type: "response.completed",
          response: { ...running, status: "completed", output: [question, answer] },
        },
      ].map((event, sequence_number) => ({ ...event, sequence_number })),
    );
  });

  test.each([
    {
      end: "a finish",
      last: [said.agent("Yes", "result"), said.status(STOPPED)],
      type: "completed",
      status: "completed",
      reason: null,
    },
    {
      end: "a question",
      last: [said.agent("Which?", "question"), said.status(WAITING)],
      type: "incomplete",
      status: "pending",
      reason: "question",
    },
    {
      end: "an approval",
      last: [said.approval(), said.status(WAITING)],
      type: "incomplete",
      status: "pending",
      reason: "confirmation",
    },
    {
      end: "a stop",
      last: [said.stop(), said.status(STOPPED)],
      type: "incomplete",
      status: "completed",
      reason: "stop",
    },
    {
      end: "a failure",
      last: [said.failure("timeout", "Late"), said.status(ERROR)],
      type: "failed",
      status: "error",
      reason: null,
    },
  ])("ends $end with the facade's type and status", ({ last, type, status, reason }) => {
    const end = streamOf(history(...beginning, ...last)).at(-1);
    const error = type === "failed" ? { code: "timeout", message: "Late" } : null;
    const incomplete_details = reason === null ? null : { reason };
    expect(end).toMatchObject({ type: `response.${type}`, response: { status, error, incomplete_details } });
  });

  test("streams the user's messages in the middle of it, and the last message of the turn before it", () => {
    const streamed = streamOf(
      history(
        ...beginning,
        said.agent("One"),
        said.user("And?"),
        said.agent("Two", "result"),
        said.status(STOPPED),
        said.result(),
        ...beginning,
      ),
    );
    const added = streamed.flatMap((event) =>
      event.type === "response.output_item.added" ? [[event.output_index, event.item.role]] : [],
    );
    expect(added).toEqual([
      [1, "assistant"],
      [2, "user"],
      [3, "assistant"],
      [4, "assistant"],
    ]);
    const again = streamed.findLast(({ type }) => type === "response.created");
    expect(again && "response" in again ? again.response.output.map(({ role }) => role) : []).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "assistant",
      "user",
    ]);
  });

  test("has no second end for a stop of a waiting task", () => {
    const streamed = streamOf(
      history(...beginning, said.approval(), said.status(WAITING), said.stop(), said.status(STOPPED)),
    );
    expect(streamed.filter(isEnding)).toHaveLength(1);
  });
});
