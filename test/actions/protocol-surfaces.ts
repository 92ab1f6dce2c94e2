import { a2aClient, asTask, data, readCard, sending } from "../a2a/client.ts";
import { frontEnd, interruptsOf } from "../agui/front-end.ts";
import { mcpClient } from "../mcp/client.ts";
import { tokenOf } from "../support/token.ts";
import type { OpenSurface } from "./surface.ts";

/** A client of MCP that shows forms to its person. */
export const mcpForm: OpenSurface = async ({ service, person }) => {
  const forms: string[] = [];
  const client = await mcpClient(service.url, {
    headers: person.headers,
    answer: ({ message }) => {
      forms.push(message);
      return { action: "cancel" };
    },
  });
  return {
    async show(taskId, wait) {
      forms.length = 0;
      await wait();
      const { content } = await client.callTool({
        name: "task_wait",
        arguments: { task_id: taskId, wait_seconds: 0 },
      });
      return { text: forms[0] ?? textsOf(content).join("\n"), offersDecision: forms.length > 0 };
    },
    close: () => client.close(),
  };
};

/**
 * A client of MCP without forms: its person reads the result, and decides by the tool for approvals, which a
 * token has.
 */
export const mcpResult: OpenSurface = async ({ service, person }) => {
  const { headers } = await tokenOf(service, person, {
    scopes: ["manage_all_tasks", "approve:task"],
    forMcp: true,
  });
  const client = await mcpClient(service.url, { headers });
  return {
    async show(taskId, wait) {
      await wait();
      const { content } = await client.callTool({
        name: "task_wait",
        arguments: { task_id: taskId, wait_seconds: 0 },
      });
      const [, text = ""] = textsOf(content);
      return { text, offersDecision: !text.includes("Decide it at") };
    },
    async decide(task_id, event_id) {
      const result = await client.callTool({
        name: "task_confirm_action",
        arguments: { task_id, event_id, input: { accept: true } },
      });
      return result.isError ? JSON.parse(textsOf(result.content)[0] ?? "{}").error.code : undefined;
    },
    close: () => client.close(),
  };
};

const textsOf = (content: readonly object[]): readonly string[] =>
  (content as { text?: string }[]).map(({ text = "" }) => text);

/** A front end by AG-UI. */
export const agui: OpenSurface = async ({ service, person }) => ({
  async show(taskId, wait) {
    await wait();
    const [interrupt] = interruptsOf(await frontEnd(service.url, person.headers, taskId).run());
    const { message = "", responseSchema } = (interrupt ?? {}) as {
      message?: string;
      responseSchema?: object;
    };
    return { text: message, offersDecision: responseSchema !== undefined };
  },
  async decide(taskId, eventId) {
    const { run } = frontEnd(service.url, person.headers, taskId);
    await run();
    const answer = { interruptId: eventId, status: "resolved", payload: { accept: true } } as const;
    const last = await run({ resume: [answer] }).catch((error: { code?: string }) => error);
    return (last as { code?: string }).code;
  },
});

/** A client of A2A with a token that may approve. */
export const a2a: OpenSurface = async ({ service, person }) => {
  const client = await a2aClient(service.url, await readCard(service.url), "JSONRPC");
  const { headers } = await tokenOf(service, person, { scopes: ["manage_all_tasks", "approve:task"] });
  const options = { serviceParameters: headers };
  return {
    async show(taskId, wait) {
      await wait();
      const { status } = await client.getTask({ tenant: "", id: taskId, historyLength: 0 }, options);
      const parts = (status?.message?.parts ?? []).map(({ content }) => content);
      const [text = ""] = parts.flatMap((part) => (part?.$case === "text" ? [part.value] : []));
      const facts = parts.flatMap((part) => (part?.$case === "data" ? [part.value as object] : []));
      return { text, offersDecision: facts.some((fact) => "input_schema" in fact) };
    },
    async decide(taskId, event_id) {
      const decision = sending(data({ event_id, input: { accept: true } }), { taskId });
      return client.sendMessage(decision, options).then(
        (answer) => void asTask(answer),
        (error: Error) => error.message,
      );
    },
  };
};
