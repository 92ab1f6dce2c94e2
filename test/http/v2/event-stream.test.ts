import { once } from "node:events";
import { Readable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { TaskEventSchema, TaskEventType } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import {
  ListMessagesResponseSchema,
  WatchTaskRequestSchema,
  WatchTaskResponseSchema,
} from "../../../src/gen/proto/task/v2/task_service_pb.ts";
import { compileFrameWriter, endFrame, eventStream } from "../../../src/http/v2/event-stream.ts";
import { framesIn } from "../../support/event-stream.ts";
import { stillClock } from "../../support/still-clock.ts";

const read = (text: string) => Array.fromAsync(framesIn(Readable.from([Buffer.from(text)])));

describe("a frame", () => {
  test.each([
    "{}",
    "a\nb",
    "a\r\nb\rc\n",
    "",
    "\n",
    ": no comment",
    "id: 7",
    "\u2028x\u0085",
  ])("of %j is read as it was written", async (data) => {
    expect(await read(endFrame(data))).toEqual([
      { event: "end", data: data.replace(/\r\n|\r/g, "\n"), lastEventId: "" },
    ]);
  });

  test("is named by the event type in its data", async () => {
    const write = compileFrameWriter(WatchTaskResponseSchema);
    const event = create(TaskEventSchema, {
      seq: 7,
      type: TaskEventType.USER_STOP,
      payload: { case: "userStop", value: {} },
    });
    const [frame] = await read(write(create(WatchTaskResponseSchema, { event })) ?? "");
    expect(frame).toMatchObject({ event: "user_stop", lastEventId: "7" });
    expect(JSON.parse(frame && "data" in frame ? frame.data : "")).toMatchObject({
      seq: 7,
      type: "user_stop",
      user_stop: {},
    });
  });

  test("is not made for an answer without an event, which only keeps other streams open", () => {
    expect(compileFrameWriter(WatchTaskResponseSchema)(create(WatchTaskResponseSchema))).toBeUndefined();
  });

  test.each([
    WatchTaskRequestSchema,
    ListMessagesResponseSchema,
  ])("cannot be compiled for answers whose members are not messages", (desc) => {
    expect(() => compileFrameWriter(desc)).toThrow(`${desc.typeName}.task_id is not a message`);
  });
});

describe("a body", () => {
  const silenceMs = 10_000;

  /** Frames that a test emits one by one. */
  function handed() {
    const last = Promise.withResolvers<string>();
    async function* frames() {
      yield "first";
      yield await last.promise;
    }
    return { frames: frames(), yieldLast: last.resolve };
  }

  async function passed(clock: ReturnType<typeof stillClock>, ms: number): Promise<void> {
    for (let turns = 0; turns < 10; turns += 1) await turn();
    await clock.advance(ms);
    for (let turns = 0; turns < 10; turns += 1) await turn();
  }

  test("gets no more comments while its reader is behind", async () => {
    const clock = stillClock();
    const { frames, yieldLast } = handed();
    const body = eventStream(frames, clock);
    expect(body.read()).toBe(":\n\n");
    await passed(clock, 10 * silenceMs);
    yieldLast("last");
    expect(await Array.fromAsync<string>(body)).toEqual(["first", "last"]);
  });

  test("gets none after its end, even if the end is still unread", async () => {
    const clock = stillClock();
    const { frames, yieldLast } = handed();
    const body = eventStream(frames, clock);
    const errors: unknown[] = [];
    body.on("error", (error) => errors.push(error));
    body.on("data", () => undefined);
    await passed(clock, 0);
    yieldLast("last");
    await passed(clock, 0);
    body.pause();
    await passed(clock, 2 * silenceMs);
    expect(errors).toEqual([]);
  });

  test("that is cancelled before it began leaves no timer", async () => {
    let asleep = 0;
    const clock = stillClock();
    const sleep = async (ms: number, signal?: AbortSignal) => {
      asleep += 1;
      await clock.sleep(ms, signal).finally(() => {
        asleep -= 1;
      });
    };
    const body = eventStream(handed().frames, { ...clock, sleep });
    expect(asleep).toBe(1);
    body.destroy();
    await once(body, "close");
    await passed(clock, 0);
    expect(asleep).toBe(0);
  });
});
