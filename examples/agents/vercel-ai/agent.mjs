// An agent of the Vercel AI SDK as a worker: approval, question, file, streaming, and resume after a kill.
import { createWorker } from "@agent-task-platform/client/worker";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { approval, filesOf, instructions, tools, use } from "../tools.mjs";
import { conversation, decisionOf, options, profiles, usesOf } from "../turns.mjs";

const { MODEL_URL = "", MODEL_KEY = "", MODEL = "" } = process.env;
const model = createOpenAICompatible({ name: "model", baseURL: MODEL_URL, apiKey: MODEL_KEY })(MODEL);

/** The conversation as messages of the SDK. */
const toMessages = (items) =>
  items.flatMap(({ role, text, id: toolCallId, name: toolName, input, result }) =>
    role === "tool"
      ? [
          { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
          {
            role: "tool",
            content: [
              { type: "tool-result", toolCallId, toolName, output: { type: "json", value: result ?? null } },
            ],
          },
        ]
      : [{ role, content: text }],
  );

/** The tools for one run. A tool without `execute` ends the loop. */
const toolsFor = (turn, uses) =>
  Object.fromEntries(
    Object.entries(tools).map(([name, { description, input }]) => {
      const execute = async (value, { toolCallId: id }) => {
        const result = await use(turn, id, name, value);
        uses.push({ id, result });
        return result;
      };
      return [
        name,
        tool({ description, inputSchema: jsonSchema(input), ...(name === "ask_user" ? {} : { execute }) }),
      ];
    }),
  );

/**
 * The messages to continue with: those of the memo with the decision, unless the approved use was recorded
 * before a crash.
 */
function messagesOf(turn) {
  const { memo } = turn;
  if (!memo || usesOf(turn).some(({ id }) => id === memo.call)) return toMessages(conversation(turn));
  const approved = decisionOf(turn)?.accepted ?? false;
  const reason = "refused by the user";
  const decision = {
    type: "tool-approval-response",
    approvalId: memo.approval,
    approved,
    ...(approved ? {} : { reason }),
  };
  return [...memo.messages, { role: "tool", content: [decision] }];
}

await createWorker(options).run(profiles, async (turn) => {
  const uses = usesOf(turn);
  const messages = messagesOf(turn);
  const result = streamText({
    ...{ model, instructions, messages, tools: toolsFor(turn, uses), abortSignal: turn.signal },
    toolApproval: { delete_records: "user-approval" },
    stopWhen: isStepCount(20),
    onError: () => undefined,
  });
  for await (const part of result.stream) {
    if (part.type === "text-start") turn.write("", { begins: true });
    if (part.type === "text-delta") turn.write(part.text);
    if (part.type === "error") throw part.error;
  }
  turn.signal.throwIfAborted();
  const content = await result.content;
  const request = content.find(({ type }) => type === "tool-approval-request");
  if (request) {
    const { toolCallId: call, input } = request.toolCall;
    return approval(input, {
      call,
      approval: request.approvalId,
      messages: [...messages, ...(await result.responseMessages)],
    });
  }
  const question = (await result.toolCalls).find(({ toolName }) => toolName === "ask_user");
  if (question) return { ask: { content: question.input.question } };
  return { finish: { content: await result.text, uploadIds: filesOf(uses) } };
});
