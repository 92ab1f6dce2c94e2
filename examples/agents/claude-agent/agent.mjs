// An agent of the Claude Agent SDK as a worker: approval, question, file, streaming, and resume after a kill.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorker } from "@agent-task-platform/client/worker";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { approval, filesOf, instructions, tools, use } from "../tools.mjs";
import { conversation, decisionOf, options, profiles, usesOf } from "../turns.mjs";

const { MODEL_URL = "", MODEL_KEY = "", MODEL = "" } = process.env;
/**
 * The SDK starts the program `claude`: nothing of this machine's settings and variables reaches it, and it
 * calls only the model.
 */
const home = mkdtempSync(join(tmpdir(), "claude-agent-"));
process.once("exit", () => rmSync(home, { recursive: true, force: true }));
const env = {
  ...{
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ANTHROPIC_BASE_URL: MODEL_URL,
    ANTHROPIC_API_KEY: MODEL_KEY,
  },
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
};
const server = "tidy";
const nameOf = (toolName) => toolName.replace(`mcp__${server}__`, "");

/**
 * The conversation as one prompt: sessions of the SDK are files of one machine, and a run can continue on
 * another.
 */
function promptOf(turn) {
  const lines = conversation(turn).map(({ role, text, name, input, result }) =>
    role === "tool"
      ? `You used ${name} with ${JSON.stringify(input)}: ${JSON.stringify(result)}`
      : `${role}: ${text}`,
  );
  const decision = decisionOf(turn);
  const words = decision?.accepted ? "The user accepted" : "The user refused";
  return [
    ...lines,
    ...(decision && turn.memo
      ? [`${words} delete_records with ${JSON.stringify(turn.memo)}. Continue.`]
      : []),
  ].join("\n\n");
}

/** The tools for one run. */
const toolsFor = (turn, uses, ids) =>
  Object.entries(tools).map(([name, { description, input }]) => {
    const shape = Object.fromEntries(Object.keys(input.properties).map((member) => [member, z.string()]));
    return tool(name, description, shape, async (value) => {
      const id = ids.get(JSON.stringify([name, value]));
      const result = await use(turn, id, name, value);
      uses.push({ id, result });
      return { content: [{ type: "text", text: JSON.stringify(result) }] };
    });
  });

await createWorker(options).run(profiles, async (turn) => {
  const uses = usesOf(turn);
  const ids = new Map();
  let ending;
  /** Ends the turn instead of the use. */
  const endWith = (outcome) => {
    ending = outcome;
    return { behavior: "deny", message: "The turn ends here.", interrupt: true };
  };
  const decided = decisionOf(turn);
  async function canUseTool(toolName, input, { toolUseID }) {
    const name = nameOf(toolName);
    if (name === "ask_user") return endWith({ ask: { content: input.question } });
    const isDecided =
      decided &&
      JSON.stringify(turn.memo) === JSON.stringify(input) &&
      !uses.some(({ result }) => result?.deleted);
    if (name === "delete_records" && !isDecided) return endWith(approval(input, input));
    if (name === "delete_records" && !decided.accepted)
      return { behavior: "deny", message: "refused by the user" };
    ids.set(JSON.stringify([name, input]), toolUseID);
    return { behavior: "allow", updatedInput: input };
  }
  const abortController = new AbortController();
  turn.signal.addEventListener("abort", () => abortController.abort());
  const settings = {
    ...{
      env,
      cwd: home,
      model: MODEL,
      systemPrompt: instructions,
      tools: [],
      settingSources: [],
      maxTurns: 20,
    },
    ...{ abortController, canUseTool, includePartialMessages: true, persistSession: false },
    mcpServers: { [server]: createSdkMcpServer({ name: server, tools: toolsFor(turn, uses, ids) }) },
  };
  let answer = "";
  try {
    for await (const message of query({ prompt: promptOf(turn), options: settings })) {
      if (message.type === "result" && message.subtype === "success") answer = message.result;
      if (message.type !== "stream_event") continue;
      const { event } = message;
      if (event.type === "content_block_start" && event.content_block.type === "text")
        turn.write("", { begins: true });
      if (event.type === "content_block_delta" && event.delta.type === "text_delta")
        turn.write(event.delta.text);
    }
  } catch (error) {
    if (!ending) throw error; // an interrupted query ends with an error
  }
  turn.signal.throwIfAborted();
  if (!ending && answer === "") throw new Error("The agent gave no answer.");
  return ending ?? { finish: { content: answer, uploadIds: filesOf(uses) } };
});
