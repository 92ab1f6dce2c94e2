import { describe, expect, test } from "vitest";
import { type EventPayloads, eventTypes, type NewEvent, type TaskEvent } from "../../src/core/tasks/event.ts";
import { stepLine, stepsOf } from "../../src/runtime/exports/steps.ts";

const at = { taskId: "task", seq: 3, timestamp: 1_932_969_600_120 } as const;
const taskEvent = (event: NewEvent): TaskEvent => ({ ...event, ...at });
const steps = (event: NewEvent, waitingActions: Iterable<string> = []) =>
  stepsOf(taskEvent(event), new Set(waitingActions));
const used = (members: Partial<EventPayloads["tool_used"]> = {}): NewEvent => ({
  type: "tool_used",
  payload: {
    tool: "browser_open",
    actionId: "a1",
    status: "success",
    brief: "Opened",
    params: { url: "https://example.test" },
    ...members,
  },
});
const kinds = (event: NewEvent, waitingActions: Iterable<string> = []) =>
  steps(event, waitingActions).map(({ name, outcome }) => `${name} ${outcome}`);

describe("the steps of an event", () => {
  test("a message of the user is a chat, with its text and its files", () => {
    const attachments = [
      { fileId: "f1", type: "image", filename: "map.png", contentType: "image/png", bytes: 1 },
      { fileId: "f2", type: "file", filename: "notes.txt", contentType: "text/plain", bytes: 1 },
    ] as const;
    expect(
      steps({ type: "user_message", payload: { content: "Water them", messageType: "text", attachments } }),
    ).toEqual([
      {
        ...{ name: "user_chat", outcome: "SUCCESS", severity: "INFO", attributes: {} },
        content: {
          gen_ai_input_messages_json: [
            {
              role: "user",
              parts: [
                { type: "text", content: "Water them" },
                {
                  type: "file",
                  modality: "image",
                  mime_type: "image/png",
                  file_id: "f1",
                  filename: "map.png",
                },
                {
                  type: "file",
                  modality: "document",
                  mime_type: "text/plain",
                  file_id: "f2",
                  filename: "notes.txt",
                },
              ],
            },
          ],
        },
      },
    ]);
  });

  test("a message or question of the agent is a reply", () => {
    for (const deliveryKind of ["result", "progress", "question"] as const)
      expect(steps({ type: "assistant_message", payload: { content: "Done", deliveryKind } })).toEqual([
        {
          ...{ name: "agent_reply", outcome: "SUCCESS", severity: "INFO", attributes: {} },
          content: {
            gen_ai_output_messages_json: [
              { role: "assistant", parts: [{ type: "text", content: "Done" }], finish_reason: "stop" },
            ],
          },
        },
      ]);
  });

  test("an error of the agent is a failed reply, with its type but not its text among the attributes", () => {
    expect(
      steps({ type: "error_message", payload: { errorType: "quota_limit", content: "Spent" } }),
    ).toMatchObject([
      {
        name: "agent_reply",
        outcome: "FAILURE",
        severity: "ERROR",
        attributes: { errorType: "quota_limit" },
      },
    ]);
  });

  test("a tool use is a call and a result, with its arguments and its result", () => {
    expect(steps(used({ result: { title: "Example" } }))).toEqual([
      {
        ...{ name: "tool_call", outcome: "SUCCESS", severity: "INFO" },
        attributes: { genAiToolName: "browser_open", genAiToolCallId: "a1" },
        content: { gen_ai_tool_call_arguments_json: { url: "https://example.test" } },
      },
      {
        ...{ name: "tool_result", outcome: "SUCCESS", severity: "INFO" },
        attributes: { genAiToolName: "browser_open", genAiToolCallId: "a1" },
        content: { gen_ai_tool_call_result_json: { title: "Example" } },
      },
    ]);
  });

  test.each([
    ["error", "FAILURE", "ERROR", "tool_error"],
    ["rollback", "FAILURE", "WARN", "rollback"],
  ] as const)("a tool use with the status %s was called, and its result is a failure", (status, outcome, severity, errorType) => {
    expect(steps(used({ status }))).toMatchObject([
      { name: "tool_call", outcome: "SUCCESS", severity: "INFO" },
      { name: "tool_result", outcome, severity, attributes: { errorType } },
    ]);
  });

  test("a tool use that waits for approval is a call with an unknown outcome; its end is only a result", () => {
    const waitingActions = new Set<string>();
    const asking = taskEvent(used({ status: "pending_confirmation" }));
    expect(stepsOf(asking, waitingActions)).toMatchObject([
      { name: "tool_call", outcome: "UNKNOWN", severity: "INFO" },
    ]);
    expect(stepsOf(asking, waitingActions), "asked again").toEqual([]);
    expect(stepsOf(taskEvent(used()), waitingActions)).toMatchObject([
      { name: "tool_result", outcome: "SUCCESS" },
    ]);
    expect(kinds(used({ actionId: "a2" }), waitingActions)).toEqual([
      "tool_call SUCCESS",
      "tool_result SUCCESS",
    ]);
  });

  test("a null result counts as a result; the agent's description replaces a missing one", () => {
    expect(steps(used({ result: null }))[1]?.content).toEqual({ gen_ai_tool_call_result_json: null });
    expect(steps(used({ description: "At length" }))[1]?.content).toEqual({
      gen_ai_tool_call_result_json: { brief: "Opened", description: "At length" },
    });
  });

  test("a tool use without arguments has the agent's message instead, or none", () => {
    const { params: _, ...bare } = used().payload as EventPayloads["tool_used"];
    const message = { action: "Using", param: "x" };
    expect(steps({ type: "tool_used", payload: { ...bare, message } })[0]?.content).toEqual({
      gen_ai_tool_call_arguments_json: message,
    });
    expect(steps({ type: "tool_used", payload: bare })[0]?.content).toEqual({});
  });

  test("an approval of a connector's tool names the connector; other tools with such arguments do not", () => {
    const params = { connector: "notion", name: "Notion" };
    expect(steps(used({ tool: "connector_oauth", params }))[0]?.attributes).toMatchObject({
      connectorUid: "notion",
      connectorName: "Notion",
    });
    for (const connector of [{ uid: 1 }, "x".repeat(129)])
      expect(steps(used({ tool: "connector", params: { connector } }))[0]?.attributes).toEqual({
        genAiToolName: "connector",
        genAiToolCallId: "a1",
      });
    expect(steps(used({ params }))[0]?.attributes).toEqual({
      genAiToolName: "browser_open",
      genAiToolCallId: "a1",
    });
  });

  test("other events have no steps", () => {
    const others = eventTypes.filter(
      (type) => !["user_message", "assistant_message", "error_message", "tool_used"].includes(type),
    );
    expect(others.length).toBe(6);
    // The payload is not read.
    for (const type of others) expect(steps({ type, payload: {} } as unknown as NewEvent)).toEqual([]);
  });
});

describe("the line of a step", () => {
  const [call] = steps(used());
  if (!call) throw new Error("no step");
  const line = (includePayload: boolean) =>
    stepLine({
      ...{ step: call, event: taskEvent(used()), teamId: "team_9", includePayload },
      session: { id: "task", accountId: "0b9f", agentProfile: "manus-1.6" },
    });

  test("has the form of the specification, and is one line", () => {
    const text = line(true);
    expect(text.split("\n")).toHaveLength(2);
    const written = JSON.parse(text);
    expect(written).toEqual({
      event_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      ...{
        team_uid: "team_9",
        user_id: "0b9f",
        session_uid: "task",
        event_name: "TOOL_CALL",
        outcome: "SUCCESS",
      },
      occurred_at: "2031-04-03T08:00:00.120Z",
      metadata: {
        ...{
          eventId: written.event_id,
          schemaVersion: "1.0",
          eventName: "EVENT_NAME_TOOL_CALL",
          outcome: "SUCCESS",
          userId: "0b9f",
        },
        ...{
          teamUid: "team_9",
          sessionUid: "task",
          occurredAt: written.occurred_at,
          ingestedAt: written.occurred_at,
          severity: "INFO",
        },
        ...{ genAiAgentName: "manus-1.6", genAiToolName: "browser_open", genAiToolCallId: "a1" },
      },
      payload: { gen_ai_tool_call_arguments_json: { url: "https://example.test" } },
    });
    expect(Object.keys(written)).toEqual(
      "event_id team_uid user_id session_uid event_name outcome occurred_at metadata payload".split(" "),
    );
  });

  test("without payloads has the same tier 1 data and no payload", () => {
    const { payload, ...rest } = JSON.parse(line(true));
    expect(payload).toBeDefined();
    expect(JSON.parse(line(false))).toEqual(rest);
  });
});
