import { describe, expect, test } from "vitest";
import type { EventPayloads, NewEvent, TaskEvent } from "../../src/core/tasks/event.ts";
import { eventTypes } from "../../src/core/tasks/event.ts";
import { stepLine } from "../../src/exporting/step-line.ts";
import { stepsOf } from "../../src/exporting/steps.ts";

const at = { taskId: "task", seq: 3, timestamp: 1_932_969_600_120 } as const;
const told = (event: NewEvent): TaskEvent => ({ ...event, ...at });
const steps = (event: NewEvent, asked: Iterable<string> = []) => stepsOf(told(event), new Set(asked));
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
const kinds = (event: NewEvent, asked: Iterable<string> = []) => steps(event, asked).map(({ name, outcome }) => `${name} ${outcome}`);

describe("the steps of an event", () => {
  test("a message of the user is a chat, with its text and its files", () => {
    const attachments = [
      { fileId: "f1", type: "image", filename: "map.png", contentType: "image/png", bytes: 1 },
      { fileId: "f2", type: "file", filename: "notes.txt", contentType: "text/plain", bytes: 1 },
    ] as const;
    expect(steps({ type: "user_message", payload: { content: "Water them", messageType: "text", attachments } })).toEqual([
      {
        ...{ name: "user_chat", outcome: "SUCCESS", severity: "INFO", attributes: {} },
        content: {
          gen_ai_input_messages_json: [
            {
              role: "user",
              parts: [
                { type: "text", content: "Water them" },
                { type: "file", modality: "image", mime_type: "image/png", file_id: "f1", filename: "map.png" },
                { type: "file", modality: "document", mime_type: "text/plain", file_id: "f2", filename: "notes.txt" },
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
            gen_ai_output_messages_json: [{ role: "assistant", parts: [{ type: "text", content: "Done" }], finish_reason: "stop" }],
          },
        },
      ]);
  });

  test("an error of the agent is a reply that failed, with its type and not its text among the attributes", () => {
    expect(steps({ type: "error_message", payload: { errorType: "quota_limit", content: "Spent" } })).toMatchObject([
      { name: "agent_reply", outcome: "FAILURE", severity: "ERROR", attributes: { errorType: "quota_limit" } },
    ]);
  });

  test("a use of a tool is a call and a result, with what it was given and returned", () => {
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
  ] as const)("a use with the status %s was called, and its result is a failure", (status, outcome, severity, errorType) => {
    expect(steps(used({ status }))).toMatchObject([
      { name: "tool_call", outcome: "SUCCESS", severity: "INFO" },
      { name: "tool_result", outcome, severity, attributes: { errorType } },
    ]);
  });

  test("a use that asks for approval is a call of which nothing is known yet; its end is a result alone", () => {
    const asked = new Set<string>();
    const asking = told(used({ status: "pending_confirmation" }));
    expect(stepsOf(asking, asked)).toMatchObject([{ name: "tool_call", outcome: "UNKNOWN", severity: "INFO" }]);
    expect(stepsOf(asking, asked), "asked again").toEqual([]);
    expect(stepsOf(told(used()), asked)).toMatchObject([{ name: "tool_result", outcome: "SUCCESS" }]);
    expect(kinds(used({ actionId: "a2" }), asked)).toEqual(["tool_call SUCCESS", "tool_result SUCCESS"]);
  });

  test("a value that is null was returned; where nothing was, what the agent tells of it stands for it", () => {
    expect(steps(used({ result: null }))[1]?.content).toEqual({ gen_ai_tool_call_result_json: null });
    expect(steps(used({ description: "At length" }))[1]?.content).toEqual({
      gen_ai_tool_call_result_json: { brief: "Opened", description: "At length" },
    });
  });

  test("a use without arguments has what the agent tells of it, or none", () => {
    const { params: _, ...bare } = used().payload as EventPayloads["tool_used"];
    const message = { action: "Using", param: "x" };
    expect(steps({ type: "tool_used", payload: { ...bare, message } })[0]?.content).toEqual({ gen_ai_tool_call_arguments_json: message });
    expect(steps({ type: "tool_used", payload: bare })[0]?.content).toEqual({});
  });

  test("an approval of a connector's tool names the connector; a tool that only happens to have such arguments does not", () => {
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
    expect(steps(used({ params }))[0]?.attributes).toEqual({ genAiToolName: "browser_open", genAiToolCallId: "a1" });
  });

  test("there are none of any other event", () => {
    const others = eventTypes.filter((type) => !["user_message", "assistant_message", "error_message", "tool_used"].includes(type));
    expect(others.length).toBe(6);
    // Nothing of the payload is looked at.
    for (const type of others) expect(steps({ type, payload: {} } as unknown as NewEvent)).toEqual([]);
  });
});

describe("the line of a step", () => {
  const [call] = steps(used());
  if (!call) throw new Error("no step");
  const line = (includePayload: boolean) =>
    stepLine({
      ...{ step: call, event: told(used()), teamId: "team_9", includePayload },
      session: { id: "task", accountId: "0b9f", agentProfile: "manus-1.6" },
    });

  test("is the contract's record, and one line", () => {
    const text = line(true);
    expect(text.split("\n")).toHaveLength(2);
    const written = JSON.parse(text);
    expect(written).toEqual({
      event_id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      ...{ team_uid: "team_9", user_id: "0b9f", session_uid: "task", event_name: "TOOL_CALL", outcome: "SUCCESS" },
      occurred_at: "2031-04-03T08:00:00.120Z",
      metadata: {
        ...{ eventId: written.event_id, schemaVersion: "1.0", eventName: "EVENT_NAME_TOOL_CALL", outcome: "SUCCESS", userId: "0b9f" },
        ...{ teamUid: "team_9", sessionUid: "task", occurredAt: written.occurred_at, ingestedAt: written.occurred_at, severity: "INFO" },
        ...{ genAiAgentName: "manus-1.6", genAiToolName: "browser_open", genAiToolCallId: "a1" },
      },
      payload: { gen_ai_tool_call_arguments_json: { url: "https://example.test" } },
    });
    expect(Object.keys(written)).toEqual(
      "event_id team_uid user_id session_uid event_name outcome occurred_at metadata payload".split(" "),
    );
  });

  test("has the same data of tier 1 without payloads, and no payload", () => {
    const { payload, ...rest } = JSON.parse(line(true));
    expect(payload).toBeDefined();
    expect(JSON.parse(line(false))).toEqual(rest);
  });
});
