import { expect } from "vitest";
import type { Line } from "./story.ts";

type Event = Readonly<Record<string, unknown>>;

/** Expects a client's story to be complete: every event once and in order, and every refusal. */
export function expectStory(lines: readonly Line[], { metadata = true } = {}): void {
  const events = lines.flatMap(({ step, event }) => (step === "event" ? [event as Event] : []));
  expect(lines).toEqual(transcript(events, metadata ? expect.stringMatching(/^req_/) : null));
  const ids = events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(13);
  // The event of a pending wait is the one before it.
  const waitIds = events.map((event) => detailOf(event)?.["waitingForEventId"]);
  expect(waitIds.filter(Boolean)).toEqual([ids[3], ids[7]]);
}

const detailOf = (event: Event) =>
  (event["statusUpdate"] as { statusDetail?: Event } | undefined)?.statusDetail;

/** All actions and events of a client; `messages` are the events as listed. */
function transcript(messages: readonly Event[], requestId: unknown): Line[] {
  const approval = { tool: "terminal", actionId: any };
  return [
    { step: "created", taskId: any },
    event(1, "USER_MESSAGE", {
      userMessage: { content: expect.stringContaining("[[forever]]"), messageType: "MESSAGE_TYPE_TEXT" },
    }),
    event(2, "STATUS_UPDATE", { statusUpdate: status("RUNNING") }),
    event(3, "ASSISTANT_MESSAGE", { assistantMessage: { content: "Hello" } }),
    event(4, "ASSISTANT_MESSAGE", { assistantMessage: question }),
    event(5, "STATUS_UPDATE", { statusUpdate: status("WAITING", waitFor("messageAskUser", "Colour?")) }),
    { step: "answered" },
    event(6, "USER_MESSAGE", { userMessage: { content: "red", messageType: "MESSAGE_TYPE_TEXT" } }),
    event(7, "STATUS_UPDATE", { statusUpdate: status("RUNNING") }),
    event(8, "TOOL_USED", {
      toolUsed: expect.objectContaining({ ...approval, status: "TOOL_USED_STATUS_PENDING_CONFIRMATION" }),
    }),
    event(9, "STATUS_UPDATE", {
      statusUpdate: status("WAITING", { ...waitFor("terminalExecute", any), confirmInputSchema }),
    }),
    { step: "left" },
    { step: "confirmed", confirmed: true },
    event(10, "TOOL_USED", {
      toolUsed: expect.objectContaining({
        ...approval,
        status: "TOOL_USED_STATUS_SUCCESS",
        result: { accept: true },
      }),
    }),
    event(11, "STATUS_UPDATE", { statusUpdate: status("RUNNING") }),
    { step: "stopped" },
    event(12, "USER_STOP", { userStop: {} }),
    event(13, "STATUS_UPDATE", { statusUpdate: status("STOPPED") }),
    { step: "ended" },
    { step: "settled", messages, status: "TASK_STATUS_STOPPED", lastSeq: 13 },
    ...refusals.map(([what, code, message]) => ({ step: "refused", what, code, message, requestId })),
  ];
}

const any = expect.any(String);

const event = (seq: number, type: string, payload: object): Line => ({
  step: "event",
  // 64-bit numbers are text in protobuf's JSON form.
  event: {
    id: any,
    type: `TASK_EVENT_TYPE_${type}`,
    timestamp: expect.stringMatching(/^\d{13}$/),
    seq,
    ...payload,
  },
});

const status = (agentStatus: string, statusDetail?: object) => ({
  agentStatus: `TASK_STATUS_${agentStatus}`,
  brief: any,
  ...(statusDetail ? { statusDetail } : {}),
});

const waitFor = (waitingForEventType: string, waitingDescription: unknown) => ({
  waitingForEventId: any,
  waitingForEventType,
  waitingDescription,
});

const question = {
  content: "Colour?",
  deliveryKind: "question",
  questionExpectation: { responseMethod: "send_message", options: ["red", "blue"], selectionMode: any },
};

const confirmInputSchema = {
  type: "object",
  properties: { accept: { type: "boolean" }, always_allow: { type: "boolean" } },
  required: ["accept"],
  additionalProperties: false,
};

const refusals = [
  ["a bad key", "UNAUTHENTICATED", "Invalid or missing API key"],
  ["a watch with a bad key", "UNAUTHENTICATED", "Invalid or missing API key"],
  ["an unknown task", "NOT_FOUND", "task not found"],
  ["a watch of an unknown task", "NOT_FOUND", "task not found"],
  ["a limit out of range", "INVALID_ARGUMENT", expect.stringMatching(/^limit: /)],
  ["an order that is none", "INVALID_ARGUMENT", expect.stringMatching(/^order: /)],
] as const;
