// What the example agents share without a framework: what a turn has. The worker SDK of packages/client talks
// to the platform. ATP_URL=http://localhost:8080 WORKER_KEY=wk-… MODEL_URL=… MODEL_KEY=… MODEL=… node
// vercel-ai/agent.mjs

const { ATP_URL: baseUrl = "", PROFILES = "" } = process.env;
/** The options of the worker, and its profiles; none: all profiles of its credential. */
export const options = { baseUrl };
export const profiles = PROFILES.split(",");

/** The uses of tools that this turn has recorded, also by a run that was lost. */
export const usesOf = ({ run: { events = [] } }) =>
  events.flatMap(({ event: { key, toolUsed: use } }) =>
    use ? [{ role: "tool", id: key, name: use.tool, input: use.params ?? {}, result: use.result }] : [],
  );

/**
 * The conversation so far: earlier turns, the messages to answer, and the tools that this turn has used. An
 * item is a message (`role`, `text`) or a use of a tool (`id`, `name`, `input`, `result`).
 */
export const conversation = (turn) => [
  ...turn.history.map(({ role, content: text = "", tool }, nth) =>
    tool
      ? { role, id: `earlier-${nth}`, name: tool.name, input: tool.arguments ?? {}, result: tool.result }
      : { role, text },
  ),
  ...turn.messages.map(({ content }) => ({ role: "user", text: content })),
  ...usesOf(turn),
];

/** The user's latest decision in this turn. */
export const decisionOf = ({ run: { decisions = [] } }) => decisions.at(-1);
