// The worker protocol for agents in JavaScript, without packages (Node 24). docs/guides/agents.md has the rules.
// BASE_URL=http://localhost:8080 WORKER_KEY=wk-… MODEL_URL=… MODEL_KEY=… MODEL=… node vercel-ai/agent.mjs
import { setTimeout as sleep } from "node:timers/promises";

const { BASE_URL = "", WORKER_KEY = "", PROFILES = "" } = process.env;
const profiles = PROFILES.split(",").filter(Boolean);

/** Another worker has the run now, or the user stopped it. */
class Lost extends Error {}

/** Repeats the same request until it is answered. The server applies events and endings once. */
async function call(method, body, signal) {
  const headers = { "content-type": "application/json", "x-api-key": WORKER_KEY };
  const sent = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
  for (;;) {
    const reply = await fetch(`${BASE_URL}/worker.v1.WorkerService/${method}`, sent).catch(() => undefined);
    const text = await reply?.text().catch(() => "");
    signal?.throwIfAborted();
    if (reply?.ok && text) return JSON.parse(text);
    if (text?.includes("failed_precondition")) throw new Lost();
    if (reply && reply.status >= 400 && reply.status < 500 && reply.status !== 429) throw new Error(`${method}: ${text}`);
    await sleep(1000); // no answer, or an incomplete one
  }
}

/**
 * The conversation so far: earlier turns, the messages to answer, and the tools that this turn has used. An item is a message
 * (`role`, `text`) or a use of a tool (`id`, `name`, `input`, `result`).
 */
export const conversation = ({ history = [], messages = [], events = [] }) => [
  ...history.map(({ role, content: text = "", tool }, nth) =>
    tool ? { role, id: `earlier-${nth}`, name: tool.name, input: tool.arguments ?? {}, result: tool.result } : { role, text },
  ),
  ...messages.map(({ content }) => ({ role: "user", text: content })),
  ...usesOf(events),
];

/** The uses of tools among the events of a turn. */
export const usesOf = (events = []) =>
  events.flatMap(({ event: { key, toolUsed: use } }) =>
    use ? [{ role: "tool", id: key, name: use.tool, input: use.params ?? {}, result: use.result }] : [],
  );

const leaving = new AbortController();
// The listener stays: some packages end the process at SIGTERM when they find no other one.
process.on("SIGTERM", () => leaving.abort(new Error("SIGTERM")));

/** What an agent can do in its turn. Frameworks report errors of tools to the model and continue: a lost run is aborted here. */
function openRun(turn, name, lost) {
  const over = AbortSignal.any([lost.signal, leaving.signal]);
  const own = async (method, body) => {
    over.throwIfAborted();
    return call(method, { ...name, ...body }).catch((error) => {
      if (error instanceof Lost) lost.abort(error);
      throw error;
    });
  };
  const live = { attempt: 0, offset: 0, text: "", sending: Promise.resolve() };
  /** Sends what watchers lack, one call at a time. The text is a hint: nothing waits for it. */
  const send = async () => {
    while (live.offset < live.text.length && !over.aborted) {
      const [attempt, text] = [live.attempt, live.text.slice(live.offset)];
      const { nextOffset = 0 } = await own("WriteText", { attempt, offset: live.offset, text });
      if (attempt === live.attempt) live.offset = nextOffset;
      await sleep(100);
    }
  };
  return {
    ...turn,
    over,
    /** Shows the next piece of the answer to watchers. `begins`: a new text. */
    write(piece, begins = false) {
      if (begins || live.attempt === 0) Object.assign(live, { attempt: live.attempt + 1, offset: 0, text: "" });
      live.text += piece;
      live.sending = live.sending.then(send).catch(() => undefined);
    },
    /** Records a finished use of a tool. Its id is the key: a run that follows a lost one has it in `events`. */
    used: (id, tool, params, result) =>
      own("Append", { events: [{ key: id, toolUsed: { tool, status: "success", brief: `Used ${tool}`, params, result } }] }),
    upload: async (filename, text) => (await own("Upload", { filename, content: Buffer.from(text).toString("base64") })).uploadId,
  };
}

/** Works on one turn. Returns the next one if the platform has it already. */
async function serveTurn(turn, work) {
  const name = { taskId: turn.taskId, fence: turn.fence };
  const lost = new AbortController();
  const heartbeats = (async () => {
    while (await sleep((turn.leaseSeconds * 1000) / 3, true, { signal: lost.signal }).catch(() => false))
      if ((await call("Heartbeat", name)).stop) lost.abort(new Lost());
  })().catch(() => undefined);
  try {
    const outcome = await work(openRun(turn, name, lost)).catch((error) => {
      if (error instanceof Lost || lost.signal.aborted || leaving.signal.aborted) throw new Lost();
      return { fail: { errorType: "internal", content: String(error.message || error) } };
    });
    return (await call("Finish", { ...name, ...outcome })).run;
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    if (leaving.signal.aborted) await call("Release", name).catch(() => undefined); // another worker continues at once
  } finally {
    lost.abort();
    await heartbeats;
  }
}

/** Polls for runs, and works on them. @param work returns how a turn ends: finish, ask, confirm or fail of worker.v1. */
export async function serve(work) {
  let turn;
  while (turn || !leaving.signal.aborted) {
    turn ??= await call("Poll", { waitSeconds: 30, profiles }, leaving.signal).then(
      ({ run }) => run,
      (error) => (leaving.signal.aborted ? undefined : Promise.reject(error)), // a refused credential ends the worker
    );
    turn &&= await serveTurn(turn, work);
  }
}
