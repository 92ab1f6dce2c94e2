import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { rpc, toolCall } from "../mcp/post.ts";
import { taskRig } from "../support/task-rig.ts";

const rig = taskRig();

// The server's environment has a valid key of another account, as on a developer's machine.
beforeAll(async () => {
  const other = await rig.service.person();
  expect((await other.v2("task.list")).body.ok).toBe(true);
  vi.stubEnv("ATP_KEY", other.key);
  vi.stubEnv("ATP_URL", rig.service.url);
});
afterAll(() => void vi.unstubAllEnvs());

const content = "[[say hi]]";
const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: content }] };

test.each([
  ["MCP", "/mcp", toolCall("task_create", { message: content })],
  ["A2A", "/a2a", rpc("SendMessage", { message })],
  ["AG-UI", "/ag-ui", { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content }] }],
])("%s takes no credential from the server's environment: a request without one is refused, and others act for their own", async (_, path, body) => {
  const send = async (credential: Readonly<Record<string, string>>) => {
    const headers = {
      accept: "application/json, text/event-stream",
      "a2a-version": "1.0",
      "content-type": "application/json",
    };
    const answer = await fetch(`${rig.service.url}${path}`, {
      method: "POST",
      headers: { ...headers, ...credential },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.status;
  };
  expect(await send({})).toBe(401);
  const ann = await rig.service.person();
  expect(await send(ann.headers)).toBe(200);
  expect((await ann.v2("task.list")).body["data"]).toHaveLength(1);
});
