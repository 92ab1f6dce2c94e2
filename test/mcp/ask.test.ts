import type { ElicitRequestFormParams } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import type { Client } from "../../packages/client/src/index.ts";
import { formOf } from "../../src/protocols/shared/ask.ts";
import { taskRig } from "../support/task-rig.ts";
import { type Answer, jsonOf, mcpClient } from "./client.ts";

const rig = taskRig();

/** Creates a task with a client that answers its forms, and returns the forms and the result. */
async function create(message: string, answer: Answer | undefined) {
  const forms: ElicitRequestFormParams[] = [];
  const shown: Answer | undefined =
    answer &&
    ((form) => {
      forms.push(form);
      return answer(form);
    });
  const client = await mcpClient(rig.service.url, { headers: rig.ann.headers, answer: shown });
  const result = jsonOf(await client.callTool({ name: "task_create", arguments: { message } }));
  return { client, forms, result };
}
const accept =
  (content: Record<string, string | boolean>): Answer =>
  () => ({ action: "accept", content });
const said = (result: object): unknown[] =>
  (result as { messages: { content: string }[] }).messages.map(({ content }) => content);

describe("a question (spec/api.md 8.103)", () => {
  test("becomes a form, and the answer continues the task in the same call", async () => {
    const { forms, result } = await create(
      "[[ask Which colour? | red | blue]] [[say Painted]]",
      accept({ choice: "blue" }),
    );
    expect(forms).toMatchObject([
      {
        message: "Which colour?",
        requestedSchema: { properties: { choice: { enum: ["red", "blue"] }, answer: { type: "string" } } },
      },
    ]);
    expect(result).toMatchObject({ status: "stopped", outcome: "finished" });
    expect(said(result)).toEqual(expect.arrayContaining(["Which colour?", "Painted"]));
    expect((await rig.events(result["task_id"])).map((event) => event["user_message"]?.content)).toContain(
      "blue",
    );
  });

  test("several questions of one call are asked in turn", async () => {
    const { forms, result } = await create(
      "[[ask One?]] [[ask Two?]] [[say Done]]",
      accept({ answer: "yes" }),
    );
    expect(forms.map(({ message }) => message)).toEqual(["One?", "Two?"]);
    expect(result).toMatchObject({ status: "stopped" });
  });

  test.each(["decline", "cancel"] as const)("stays open when the person chooses to %s", async (action) => {
    const { forms, result } = await create("[[ask Which colour?]]", () => ({ action }));
    expect([forms.length, result["status"]]).toEqual([1, "waiting"]);
  });

  test("is a result for a client without forms, which task_answer answers", async () => {
    const { client, result } = await create("[[ask Which colour?]] [[say Painted]]", undefined);
    expect(result).toMatchObject({
      status: "waiting",
      waiting_for: { kind: "messageAskUser" },
      next: expect.stringContaining("task_answer"),
    });
    const answered = jsonOf(
      await client.callTool({
        name: "task_answer",
        arguments: { task_id: result["task_id"], answer: "red" },
      }),
    );
    expect(answered).toMatchObject({ status: "stopped" });
    expect(said(answered)).toContain("Painted");
  });
});

describe("an approval (spec/api.md 8.103)", () => {
  test("is shown whole, and the person's decision applies", async () => {
    const { forms, result } = await create(
      "[[confirm terminalExecute]] [[say Ran]]",
      accept({ accept: true }),
    );
    expect(forms).toMatchObject([
      { requestedSchema: { properties: { accept: { type: "boolean" } }, required: ["accept"] } },
    ]);
    const [asked] = (await rig.events(result["task_id"])).filter(
      (event) => event["tool_used"]?.status === "pending_confirmation",
    );
    for (const [name, value] of Object.entries(asked?.["tool_used"].params))
      expect(forms[0]?.message).toContain(`\n${name}: ${value}`);
    expect(result).toMatchObject({ status: "stopped", outcome: "finished" });
    const rows = (await rig.ann.v2("audit.list")).body["data"] as { operation: string }[];
    expect(rows.some(({ operation }) => operation.includes("ConfirmAction"))).toBe(true);
  });

  test.each([
    ["does not accept the action", accept({ accept: false })],
    ["declines the form", () => ({ action: "decline" })],
    ["closes the form", () => ({ action: "cancel" })],
  ] as [string, Answer][])("stays open when the person %s", async (_, answer) => {
    const { forms, result } = await create("[[confirm terminalExecute]]", answer);
    expect([forms.length, result["status"]]).toEqual([1, "waiting"]);
  });

  test("cannot be decided by a client without forms: no tool decides, and task_answer refuses", async () => {
    const { client, result } = await create("[[confirm terminalExecute]]", undefined);
    expect(result).toMatchObject({
      status: "waiting",
      next: expect.stringContaining(String(result["task_url"])),
    });
    const refused = await client.callTool({
      name: "task_answer",
      arguments: { task_id: result["task_id"], answer: "yes" },
    });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("failed_precondition") }],
    });
    expect((await rig.ann.v2("task.detail", { task_id: result["task_id"] })).body["task"].status).toBe(
      "waiting",
    );
  });

  test.each([
    [
      "too long to be shown whole",
      {
        tool: { name: "pay", params: { text: "x".repeat(20_001) } },
        confirm_input_schema: { properties: { accept: { type: "boolean" } }, required: ["accept"] },
      },
    ],
    [
      "that the server does not describe",
      { confirm_input_schema: { properties: { accept: { type: "boolean" } }, required: ["accept"] } },
    ],
    [
      "with a decision that a form cannot have",
      {
        tool: { name: "pay" },
        confirm_input_schema: { properties: { items: { type: "array" } }, required: ["items"] },
      },
    ],
  ])("%s has no form: only the console shows it", async (_, more) => {
    const waiting = {
      ...{ waiting_for_event_id: "e", waiting_for_event_type: "terminalExecute", waiting_description: "Pay" },
      ...{ task_url: "https://example.com/app/t", ...more },
    };
    // No call is made for an approval.
    expect(await formOf({} as Client, "t", waiting)).toBeNull();
  });
});

test("an answer without the place that the server signed, or with that of another credential, is refused", async () => {
  const bob = await rig.service.person({ with: rig.ann, role: "member" });
  const post = async (headers: Readonly<Record<string, string>>, params: object) => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const answer = await fetch(`${rig.service.url}/mcp`, {
      method: "POST",
      headers: {
        ...headers,
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
        ...{ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "task_create" },
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { ...params, _meta: meta },
      }),
    });
    const text = await answer.text();
    return JSON.parse(text.startsWith("{") ? text : (text.split("data: ").at(-1) ?? ""));
  };
  const call = { name: "task_create", arguments: { message: "[[confirm terminalExecute]]" } };
  const { result } = await post(rig.ann.headers, call);
  const [eventId = ""] = Object.keys(result.inputRequests);
  const inputResponses = { [eventId]: { action: "accept", content: { accept: true } } };
  const [text = "", signature = ""] = String(result.requestState).split(".");
  const forged = `${Buffer.from(Buffer.from(text, "base64url").toString().replace(/0/, "1")).toString("base64url")}.${signature}`;
  for (const [headers, requestState] of [
    [rig.ann.headers, forged],
    [rig.ann.headers, "x"],
    [bob.headers, result.requestState],
  ] as const)
    expect(await post(headers, { ...call, inputResponses, requestState })).toMatchObject({
      error: { code: -32_602 },
    });
  expect(
    await post(rig.ann.headers, { ...call, inputResponses, requestState: result.requestState }),
  ).toMatchObject({
    result: { content: [{ text: expect.stringContaining('"stopped"') }] },
  });
});
