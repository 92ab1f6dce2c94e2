// An agent of the OpenAI Agents SDK as a worker: approval, question, file, streaming, and resume after a
// kill.
import { createWorker } from "@agent-task-platform/client/worker";
import { Agent, OpenAIProvider, Runner, RunState, tool } from "@openai/agents";
import { approval, filesOf, instructions, tools, use } from "../tools.mjs";
import { conversation, decisionOf, options, profiles, usesOf } from "../turns.mjs";

const { MODEL_URL = "", MODEL_KEY = "", MODEL = "" } = process.env;
const modelProvider = new OpenAIProvider({ baseURL: MODEL_URL, apiKey: MODEL_KEY, useResponses: false });
const runner = new Runner({ modelProvider, model: MODEL, tracingDisabled: true });

/** The conversation as input items of the SDK. */
const toItems = (items) =>
  items.flatMap(({ role, text, id: callId, name, input, result }) => {
    if (role === "user") return [{ role, content: text }];
    if (role === "assistant")
      return [{ role, status: "completed", content: [{ type: "output_text", text }] }];
    const output = { type: "text", text: JSON.stringify(result ?? null) };
    return [
      { type: "function_call", callId, name, status: "completed", arguments: JSON.stringify(input) },
      { type: "function_call_result", callId, name, status: "completed", output },
    ];
  });

/** The agent for one run. */
const agentFor = (turn, uses) =>
  new Agent({
    ...{ name: "tidy", instructions },
    toolUseBehavior: { stopAtToolNames: ["ask_user"] },
    tools: Object.entries(tools).map(([name, { description, input: parameters }]) =>
      tool({
        ...{ name, description, parameters, strict: false },
        needsApproval: name === "delete_records",
        errorFunction: null,
        async execute(input, _context, details) {
          if (name === "ask_user") return input.question;
          const id = details.toolCall.callId;
          const result = await use(turn, id, name, input);
          uses.push({ id, result });
          return JSON.stringify(result);
        },
      }),
    ),
  });

/**
 * The input to continue with: the state of the memo with the decision, unless the approved use was recorded
 * before a crash.
 */
async function inputOf(agent, turn) {
  const { memo } = turn;
  if (!memo || usesOf(turn).some(({ id }) => id === memo.call)) return toItems(conversation(turn));
  const state = await RunState.fromString(agent, memo.state);
  for (const request of state.getInterruptions()) {
    if (decisionOf(turn)?.accepted) state.approve(request);
    else state.reject(request, { message: "refused by the user" });
  }
  return state;
}

await createWorker(options).run(profiles, async (turn) => {
  const uses = usesOf(turn);
  const agent = agentFor(turn, uses);
  const result = await runner.run(agent, await inputOf(agent, turn), {
    stream: true,
    signal: turn.signal,
    maxTurns: 20,
  });
  result.completed.catch(() => undefined); // it is awaited below, and can fail before
  for await (const event of result) {
    if (event.type !== "raw_model_stream_event") continue;
    if (event.data.type === "response_started") turn.write("", { begins: true });
    if (event.data.type === "output_text_delta") turn.write(event.data.delta);
  }
  await result.completed;
  turn.signal.throwIfAborted();
  const [request] = result.interruptions;
  if (request)
    return approval(JSON.parse(request.rawItem.arguments), {
      call: request.rawItem.callId,
      state: result.state.toString(),
    });
  const asked = result.newItems.at(-1)?.rawItem;
  if (asked?.type === "function_call_result" && asked.name === "ask_user")
    return { ask: { content: result.finalOutput } };
  return { finish: { content: result.finalOutput, uploadIds: filesOf(uses) } };
});
