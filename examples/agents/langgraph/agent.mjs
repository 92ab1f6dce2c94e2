// An agent of LangGraph JS as a worker: approval, question, file, streaming, and resume after a kill.
import { createWorker } from "@agent-task-platform/client/worker";
import {
  AIMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  ToolMessage,
} from "@langchain/core/messages";
import {
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { approval, filesOf, instructions, tools, use } from "../tools.mjs";
import { conversation, decisionOf, options, profiles, usesOf } from "../turns.mjs";

const { MODEL_URL = "", MODEL_KEY = "", MODEL = "" } = process.env;
const functions = Object.entries(tools).map(([name, { description, input: parameters }]) => ({
  type: "function",
  function: { name, description, parameters },
}));
const configuration = { baseURL: MODEL_URL };
const model = new ChatOpenAI({
  model: MODEL,
  apiKey: MODEL_KEY,
  streaming: true,
  useResponsesApi: false,
  configuration,
}).bindTools(functions);

/** The conversation as messages of LangChain. */
const toMessages = (items) =>
  items.flatMap(({ role, text, id, name, input: args, result }) => {
    if (role === "user") return [new HumanMessage(text)];
    if (role === "assistant") return [new AIMessage(text)];
    return [
      new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id, name, args }] }),
      new ToolMessage({ tool_call_id: id, name, content: JSON.stringify(result ?? null) }),
    ];
  });

/** The graph for one run: the model, then its tools, until it answers or asks. */
function graphFor(turn, uses) {
  async function agent({ messages }) {
    const stream = await model.stream([["system", instructions], ...messages], { signal: turn.signal });
    let whole;
    for await (const piece of stream) {
      if (piece.text) turn.write(piece.text, { begins: !whole?.text });
      whole = whole ? whole.concat(piece) : piece;
    }
    return { messages: [new AIMessage({ content: whole.text, tool_calls: whole.tool_calls })] };
  }
  async function useTools({ messages }) {
    const results = [];
    for (const { id, name, args } of messages.at(-1).tool_calls) {
      // The node runs again from its start after an interrupt: what was used before is known.
      let result = uses.find((known) => known.id === id)?.result;
      if (result === undefined && name === "delete_records" && !interrupt({ id, args }).accepted)
        result = "refused by the user";
      if (result === undefined) {
        result = await use(turn, id, name, args);
        uses.push({ id, result });
      }
      results.push(new ToolMessage({ tool_call_id: id, name, content: JSON.stringify(result) }));
    }
    return { messages: results };
  }
  const next = ({ messages }) =>
    messages.at(-1).tool_calls.some(({ name }) => name !== "ask_user") ? "tools" : END;
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addNode("tools", useTools)
    .addEdge(START, "agent")
    .addConditionalEdges("agent", next, ["tools", END])
    .addEdge("tools", "agent")
    .compile({ checkpointer: new MemorySaver() });
}

await createWorker(options).run(profiles, async (turn) => {
  const { memo } = turn;
  const uses = usesOf(turn);
  const graph = graphFor(turn, uses);
  const config = { configurable: { thread_id: turn.taskId }, signal: turn.signal, recursionLimit: 40 };
  let input = { messages: toMessages(conversation(turn)) };
  // The state of the memo with the decision, unless the approved use was recorded before a crash.
  if (memo && !uses.some(({ id }) => id === memo.call)) {
    await graph.updateState(config, { messages: mapStoredMessagesToChatMessages(memo.messages) }, "agent");
    input = new Command({ resume: { accepted: decisionOf(turn)?.accepted ?? false } });
  }
  const { messages, __interrupt__: [request] = [] } = await graph.invoke(input, config);
  turn.signal.throwIfAborted();
  if (request)
    return approval(request.value.args, {
      call: request.value.id,
      messages: mapChatMessagesToStoredMessages(messages),
    });
  const last = messages.at(-1);
  const question = last.tool_calls.find(({ name }) => name === "ask_user");
  if (question) return { ask: { content: question.args.question } };
  return { finish: { content: last.text, uploadIds: filesOf(uses) } };
});
